// Real sockets over loopback, both ends on one loop.

#include "daemon/links.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/daemon/net_support.hpp"

namespace p2p::daemon {
namespace {

using testing_net::identity;
using testing_net::run_until;
using testing_net::run_until_quiet;
using testing_net::Station;

core::Bytes text(const std::string& words) {
    return core::to_bytes(core::as_bytes(words));
}

/// Two stations that know each other; `low` has the lower id.
class Pair : public testing::Test {
  protected:
    Pair() {
        low.allow({high.id()});
        high.allow({low.id()});
        low.start();
        high.start();
    }

    bool connect() {
        low.links.connect(high.id(), {high.address()});
        return run_until(loop, [this] { return low.up() == 1 && high.up() == 1; });
    }

    asio::io_context loop;
    Station low{loop, testing_net::seeds_in_order().first};
    Station high{loop, testing_net::seeds_in_order().second};
};

TEST_F(Pair, ConnectAndSayWhoTheyAre) {
    ASSERT_TRUE(connect());
    ASSERT_EQ(1U, low.connected.size());
    ASSERT_EQ(1U, high.connected.size());
    EXPECT_EQ(high.id(), low.connected[0].id);
    EXPECT_EQ("station", low.connected[0].name);
    EXPECT_EQ(core::Incarnation{1}, low.connected[0].incarnation);
    EXPECT_TRUE(low.connected[0].dialled_here);
    EXPECT_EQ(low.id(), high.connected[0].id);
    EXPECT_FALSE(high.connected[0].dialled_here);
}

TEST_F(Pair, ExchangeMessagesInOrderBothWays) {
    ASSERT_TRUE(connect());
    std::vector<core::Bytes> sent;
    for (int i = 0; i < 500; ++i) {
        sent.push_back(text("message " + std::to_string(i)));
        low.links.send_control(high.id(), sent.back());
        high.links.send_control(low.id(), sent.back());
    }
    ASSERT_TRUE(run_until(loop, [&] {
        return low.control.size() == sent.size() && high.control.size() == sent.size();
    }));
    EXPECT_EQ(sent, low.control);
    EXPECT_EQ(sent, high.control);
}

/// Pushes bulk whenever there is room, until `bytes` have gone.
class Flood {
  public:
    Flood(Station& from, std::size_t bytes)
        : from_(from),
          left_(bytes) {
        from.on_writable = [this](core::PeerId to, std::size_t room) {
            push(to, room);
        };
    }

    ~Flood() { from_.on_writable = nullptr; }

    Flood(const Flood&) = delete;
    Flood& operator=(const Flood&) = delete;

    [[nodiscard]] std::size_t left() const { return left_; }

  private:
    void push(core::PeerId to, std::size_t room) {
        while (room > 0 && left_ > 0) {
            const std::size_t length = std::min({left_, room, body_->size()});
            from_.links.send_bulk(to, {.header = {7}, .body = body_, .length = length});
            left_ -= length;
            room -= length;
        }
    }

    Station& from_;
    std::size_t left_;
    std::shared_ptr<const core::Bytes> body_ =
        std::make_shared<const core::Bytes>(core::limits::chunk_bytes_max, std::uint8_t{5});
};

TEST_F(Pair, MoveBulkBothWaysAtOnceWithoutLosingAByte) {
    constexpr std::size_t bytes = 16 * 1024 * 1024;
    Flood to_high(low, bytes);
    Flood to_low(high, bytes);
    bool is_intact = true;
    low.on_bulk = [&](core::ByteView frame) {
        is_intact = is_intact && frame.front() == 7
                    && std::all_of(frame.begin() + 1, frame.end(), [](std::uint8_t byte) {
                           return byte == 5;
                       });
    };
    ASSERT_TRUE(connect());
    ASSERT_TRUE(run_until(loop, [&] {
        return low.bulk_bytes == bytes + low.bulk_frames
               && high.bulk_bytes == bytes + high.bulk_frames;
    }));
    EXPECT_TRUE(is_intact);
    EXPECT_TRUE(low.disconnected.empty());
}

TEST_F(Pair, LetControlOvertakeTheBulkThatIsQueued) {
    Flood flood(low, std::size_t{64} * 1024 * 1024);
    ASSERT_TRUE(connect());
    ASSERT_TRUE(run_until(loop, [&] { return high.bulk_bytes > 4 * 1024 * 1024; }));

    for (int i = 0; i < 20; ++i) {
        const auto sealed = low.links.status().front().counters.bulk_sent;
        low.links.send_control(high.id(), text("ping"));
        ASSERT_TRUE(run_until(loop, [&] { return high.control.size() == std::size_t(i) + 1; }));
        // What was sealed before it, and at most the one record that was next, came earlier.
        EXPECT_LE(high.bulk_frames, sealed + 1);
    }
    EXPECT_GT(flood.left(), 0U);  // else nothing was there to overtake
}

TEST_F(Pair, AnswerWhileBulkSaturatesBothDirections) {
    Flood to_high(low, std::size_t{256} * 1024 * 1024);
    Flood to_low(high, std::size_t{256} * 1024 * 1024);
    high.on_control = [&](core::PeerId from, core::Bytes message) {
        high.links.send_control(from, std::move(message));
    };
    ASSERT_TRUE(connect());
    for (std::size_t i = 1; i <= 20; ++i) {
        low.links.send_control(high.id(), text("ping"));
        ASSERT_TRUE(run_until(loop, [&] { return low.control.size() == i; }));
    }
    EXPECT_GT(to_high.left() + to_low.left(), 0U);
}

TEST_F(Pair, TellTheOtherEndWhyTheyEnd) {
    ASSERT_TRUE(connect());
    low.links.send_control(high.id(), text("last words"));
    low.links.disconnect(high.id(), {core::ErrorCode::not_permitted, "enough", "of it", ""});
    EXPECT_EQ(0U, low.up());
    ASSERT_TRUE(run_until(loop, [&] { return !high.disconnected.empty(); }));
    EXPECT_EQ(1U, high.control.size());
    EXPECT_EQ(core::ErrorCode::not_permitted, high.disconnected[0].second.code);
    EXPECT_NE(std::string::npos, high.disconnected[0].second.text().find("of it"));
    EXPECT_TRUE(low.disconnected.empty());  // whoever asked for it knows
}

TEST_F(Pair, TellTheOtherEndWhyEvenWhileBulkSaturates) {
    Flood to_high(low, std::size_t{256} * 1024 * 1024);
    Flood to_low(high, std::size_t{256} * 1024 * 1024);
    ASSERT_TRUE(connect());
    ASSERT_TRUE(run_until(loop, [&] { return high.bulk_bytes > 1024 * 1024; }));
    low.links.disconnect(high.id(), {core::ErrorCode::not_permitted, "enough", "of it", ""});
    ASSERT_TRUE(run_until(loop, [&] { return !high.disconnected.empty(); }));
    EXPECT_EQ(core::ErrorCode::not_permitted, high.disconnected[0].second.code);
}

TEST_F(Pair, CanConnectAgainAtOnce) {
    ASSERT_TRUE(connect());
    low.links.disconnect(high.id(), {core::ErrorCode::interrupted, "a break", "", ""});
    low.links.connect(high.id(), {high.address()});
    ASSERT_TRUE(run_until(loop, [&] { return low.connected.size() == 2; }));
    ASSERT_TRUE(run_until(loop, [&] { return high.connected.size() == 2; }));
    EXPECT_EQ(1U, high.disconnected.size());
}

TEST_F(Pair, KeepOneSessionWhenBothDialAtOnce) {
    low.links.connect(high.id(), {high.address()});
    high.links.connect(low.id(), {low.address()});
    ASSERT_TRUE(run_until(loop, [&] { return low.up() == 1 && high.up() == 1; }));
    run_until_quiet(loop);
    ASSERT_EQ(1U, low.up());
    ASSERT_EQ(1U, high.up());
    EXPECT_TRUE(low.links.status()[0].facts.dialled_here);
    EXPECT_FALSE(high.links.status()[0].facts.dialled_here);

    low.links.send_control(high.id(), text("over what stays"));
    EXPECT_TRUE(run_until(loop, [&] { return high.control.size() == 1; }));
    EXPECT_TRUE(low.unreachable.empty());
    EXPECT_TRUE(high.unreachable.empty());
}

TEST_F(Pair, LetARestartedPeerReplaceItsOldSession) {
    ASSERT_TRUE(connect());
    // The same key in a new process; the old session is still open, as after a power cut.
    Station restarted(loop, testing_net::seeds_in_order().second);
    restarted.config.session.hello.incarnation = core::Incarnation{2};
    restarted.allow({low.id()});
    restarted.start();
    restarted.links.connect(low.id(), {low.address()});
    ASSERT_TRUE(run_until(loop, [&] { return low.connected.size() == 2; }));
    EXPECT_EQ(core::Incarnation{2}, low.connected[1].incarnation);
    EXPECT_EQ(1U, low.disconnected.size());
    EXPECT_EQ(1U, low.up());
    run_until_quiet(loop);
    EXPECT_EQ(1U, restarted.up());
}

TEST_F(Pair, TryOneAddressAfterTheOther) {
    low.links.connect(high.id(), {"no address", "127.0.0.1:1", high.address()});
    ASSERT_TRUE(run_until(loop, [&] { return low.up() == 1; }));
    EXPECT_TRUE(low.unreachable.empty());
}

TEST_F(Pair, SayWhichAddressCouldNotBeReached) {
    low.links.connect(high.id(), {"127.0.0.1:1"});
    EXPECT_TRUE(low.unreachable.empty()) << "the answer must come later";
    ASSERT_TRUE(run_until(loop, [&] { return !low.unreachable.empty(); }));
    EXPECT_EQ(high.id(), low.unreachable[0].first);
    EXPECT_EQ(core::ErrorCode::unreachable, low.unreachable[0].second.code);
    EXPECT_NE(std::string::npos, low.unreachable[0].second.text().find("127.0.0.1:1"));
}

TEST_F(Pair, AnswerADialWithoutAnAddress) {
    low.links.connect(high.id(), {});
    ASSERT_TRUE(run_until(loop, [&] { return !low.unreachable.empty(); }));
}

TEST_F(Pair, DialOnceForManyRequests) {
    for (int i = 0; i < 5; ++i) {
        low.links.connect(high.id(), {high.address()});
    }
    ASSERT_TRUE(run_until(loop, [&] { return high.up() == 1; }));
    run_until_quiet(loop);
    EXPECT_EQ(1U, high.connected.size());
}

TEST_F(Pair, FindThatAnotherKeyAnswers) {
    const proto::Identity other = identity(77);
    low.allow({other.id()});
    low.links.connect(other.id(), {high.address()});
    ASSERT_TRUE(run_until(loop, [&] { return !low.unreachable.empty(); }));
    EXPECT_EQ(other.id(), low.unreachable[0].first);
    EXPECT_TRUE(high.connected.empty());
}

TEST_F(Pair, EndTheSessionOfWhomTheListDropped) {
    ASSERT_TRUE(connect());
    low.config.allowed.clear();
    low.links.adopt(low.config);
    ASSERT_TRUE(run_until(loop, [&] { return low.up() == 0 && high.disconnected.size() == 1; }));
    EXPECT_EQ(core::ErrorCode::not_permitted, high.disconnected[0].second.code);
    EXPECT_EQ(core::ErrorCode::not_permitted, low.disconnected.at(0).second.code);
}

TEST_F(Pair, CloseWithinAMomentAndSayWhy) {
    ASSERT_TRUE(connect());
    low.links.close();
    ASSERT_TRUE(run_until(loop, [&] { return low.links.is_idle() && high.up() == 0; }));
    EXPECT_EQ(core::ErrorCode::interrupted, high.disconnected[0].second.code);
    low.links.connect(high.id(), {high.address()});
    run_until_quiet(loop);
    EXPECT_EQ(0U, low.up());
}

TEST(Links, RefuseAStrangerAndTellHimNothingElse) {
    asio::io_context loop;
    Station home(loop, 1);
    Station stranger(loop, 3);
    home.start();
    stranger.allow({home.id()});
    stranger.start();
    stranger.links.connect(home.id(), {home.address()});
    ASSERT_TRUE(
        run_until(loop, [&] { return !stranger.unreachable.empty() && !home.refused.empty(); }));
    EXPECT_EQ(core::ErrorCode::not_permitted, stranger.unreachable[0].second.code);
    EXPECT_EQ(core::ErrorCode::not_permitted, home.refused[0].code);
    EXPECT_NE(std::string::npos, home.refused[0].text().find(stranger.id().text()));
    EXPECT_TRUE(home.connected.empty());
    EXPECT_TRUE(stranger.connected.empty());
    EXPECT_EQ(0U, home.links.half_open());
}

TEST(Links, TellBothEndsOfTwoNetworksTheIdsOfBoth) {
    asio::io_context loop;
    Station here(loop, 1, /*network_byte=*/9);
    Station there(loop, 2, /*network_byte=*/8);
    here.allow({there.id()});
    there.allow({here.id()});
    here.start();
    there.start();
    here.links.connect(there.id(), {there.address()});
    ASSERT_TRUE(
        run_until(loop, [&] { return !here.unreachable.empty() && !there.refused.empty(); }));
    for (const core::Error& error : {here.unreachable[0].second, there.refused[0]}) {
        EXPECT_EQ(core::ErrorCode::wrong_network, error.code);
        EXPECT_NE(std::string::npos, error.text().find(testing_net::network(9).text()));
        EXPECT_NE(std::string::npos, error.text().find(testing_net::network(8).text()));
    }
}

TEST(Links, RefuseTheirOwnKey) {
    asio::io_context loop;
    Station home(loop, 1);
    Station copy(loop, 1);
    home.allow({home.id()});
    copy.allow({home.id()});
    home.start();
    copy.start();
    copy.links.connect(home.id(), {home.address()});
    ASSERT_TRUE(run_until(loop, [&] { return !copy.unreachable.empty(); }));
    EXPECT_EQ(0U, home.up());
}

}  // namespace
}  // namespace p2p::daemon
