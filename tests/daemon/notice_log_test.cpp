#include "daemon/notice_log.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace p2p::daemon {
namespace {

std::string field(const LogEvent& event, const std::string& key) {
    const auto found =
        std::find_if(event.fields.begin(), event.fields.end(), [&](const auto& each) {
            return each.key == key;
        });
    return found == event.fields.end() ? "(none)" : found->value;
}

TEST(NoticeLog, NamesThePeerInFull) {
    const core::PeerId peer{{1, 2, 3}};
    const LogEvent event = log_event(core::PeerConnected{peer, "ams1-a", core::Incarnation{4}});
    EXPECT_EQ("peer_connected", event.name);
    EXPECT_EQ(LogLevel::info, event.level);
    EXPECT_EQ(peer.text(), field(event, "peer"));
    EXPECT_EQ("ams1-a", field(event, "name"));
    EXPECT_EQ("4", field(event, "incarnation"));
}

TEST(NoticeLog, WarnsOnlyOfJobsThatSomebodyMustActOn) {
    core::JobChanged notice;
    notice.state = core::JobState::waiting;
    EXPECT_EQ(LogLevel::info, log_event(notice).level);
    notice.state = core::JobState::blocked;
    EXPECT_EQ(LogLevel::warn, log_event(notice).level);
    EXPECT_EQ("blocked", field(log_event(notice), "state"));
}

TEST(NoticeLog, SwapsAreForDebugging) {
    core::SwapEnded notice;
    notice.why = core::SwapReason::norm;
    const LogEvent event = log_event(notice);
    EXPECT_EQ(LogLevel::debug, event.level);
    EXPECT_EQ("norm", field(event, "result"));
}

TEST(NoticeLog, LeavesOutWhatAnErrorDoesNotSay) {
    const auto fields = log_fields({core::ErrorCode::timed_out, "no answer", "", ""});
    ASSERT_EQ(2U, fields.size());
    EXPECT_EQ("timed_out", fields[0].value);
    EXPECT_EQ("no answer", fields[1].value);
}

}  // namespace
}  // namespace p2p::daemon
