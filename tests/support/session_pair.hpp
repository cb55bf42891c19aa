#pragma once

// Two sessions joined by nothing but bytes, for tests, fuzzing and benchmarks.
//
// The stream of each direction can be cut anywhere, looked at and changed on its way. Seeds are
// fixed, so a pair of the same options says the same bytes each time.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "proto/session.hpp"

namespace p2p::tests {

inline proto::SecretKey seed(std::uint8_t fill) {
    proto::SecretKey key;
    std::fill(key.view().begin(), key.view().end(), fill);
    return key;
}

inline core::NetworkId network(std::uint8_t fill) {
    core::NetworkId id;
    id.bytes.fill(fill);
    return id;
}

inline proto::SessionConfig session_config(std::string name) {
    proto::SessionConfig config;
    config.network = network(7);
    config.hello.incarnation = core::Incarnation{3};
    config.hello.release = "test";
    config.hello.wall_clock_unix_ms = 1'764'500'000'000;
    config.hello.listen_addresses = {"192.0.2.1:7400", "[2001:db8::1]:7400"};
    config.hello.name = std::move(name);
    config.hello.site = "zurich";
    return config;
}

/// One end of the pair, and what it has been told.
struct End {
    proto::Session session;
    std::vector<proto::SessionEvent> events{};
    core::Bytes sent{};  ///< every byte that it gave out
    core::Status status{};

    /// Feeds and takes the events, as a link does.
    void receive(core::ByteView bytes) {
        if (session.is_over()) return;
        status = session.feed(bytes);
        while (auto event = session.next_event()) {
            events.push_back(std::move(*event));
        }
    }

    [[nodiscard]] core::Bytes send() {
        core::Bytes bytes = session.take_output();
        sent.insert(sent.end(), bytes.begin(), bytes.end());
        return bytes;
    }

    /// The control messages that came.
    [[nodiscard]] std::vector<core::Bytes> control() const {
        std::vector<core::Bytes> messages;
        for (const auto& event : events) {
            const auto* control = std::get_if<proto::Control>(&event);
            if (control != nullptr) messages.push_back(control->message);
        }
        return messages;
    }

    /// The frames of bulk that came, copied.
    [[nodiscard]] std::vector<core::Bytes> bulk() const {
        std::vector<core::Bytes> frames;
        for (const auto& event : events) {
            const auto* bulk = std::get_if<proto::Bulk>(&event);
            if (bulk != nullptr) frames.push_back(core::to_bytes(bulk->bytes));
        }
        return frames;
    }
};

struct PairOptions {
    proto::SessionConfig dialler = session_config("dialler");
    proto::SessionConfig acceptor = session_config("acceptor");
    bool knows_id = true;              ///< IK; else XX
    std::uint8_t acceptor_seed = 20;   ///< of the identity that accepts (20 is the one dialled)
    std::uint8_t ephemeral_seed = 30;  ///< of the dialler; the acceptor has that plus 10
};

struct SessionPair {
    proto::Identity dialler_identity = proto::Identity::from_seed(seed(10));
    proto::Identity dialled_identity = proto::Identity::from_seed(seed(20));
    proto::Identity acceptor_identity;
    End dialler;
    End acceptor;

    /// What a byte becomes on its way: (from the dialler, position in its stream, byte).
    std::function<std::uint8_t(bool, std::size_t, std::uint8_t)> change{};

    /// Where the streams are cut: the size of the next piece, at least 1.
    std::function<std::size_t()> piece_bytes = [] {
        return ~std::size_t{0};
    };

    explicit SessionPair(const PairOptions& options = {})
        : acceptor_identity(proto::Identity::from_seed(seed(options.acceptor_seed))),
          dialler{dial(options)},
          acceptor{accept(options)} {}

    /// Passes bytes until nobody has any more to say.
    void run() {
        while (pass(dialler, acceptor) || pass(acceptor, dialler)) {
        }
    }

    /// One output of `from` to `to`; false where there was none.
    bool pass(End& from, End& to) {
        const std::size_t position = from.sent.size();
        core::Bytes bytes = from.send();
        for (std::size_t i = 0; change && i < bytes.size(); ++i) {
            bytes[i] = change(&from == &dialler, position + i, bytes[i]);
        }
        for (core::ByteView rest = bytes; !rest.empty();) {
            const auto piece = rest.first(std::min(rest.size(), piece_bytes()));
            to.receive(piece);
            rest = rest.subspan(piece.size());
        }
        return !bytes.empty();
    }

    [[nodiscard]] bool is_up() const {
        return dialler.session.is_established() && acceptor.session.is_established();
    }

  private:
    [[nodiscard]] proto::Session accept(const PairOptions& options) const {
        const auto ephemeral = static_cast<std::uint8_t>(options.ephemeral_seed + 10);
        return proto::Session::accept(options.acceptor, acceptor_identity, seed(ephemeral));
    }

    [[nodiscard]] proto::Session dial(const PairOptions& options) const {
        if (!options.knows_id) {
            return proto::Session::dial_unknown(
                options.dialler, dialler_identity, seed(options.ephemeral_seed));
        }
        return proto::Session::dial(
                   options.dialler,
                   dialler_identity,
                   dialled_identity.id(),
                   seed(options.ephemeral_seed))
            .value();
    }
};

/// A piece of bulk of `length` bytes `fill`, with a header of four.
inline proto::BulkPiece bulk_piece(std::uint16_t stream, std::size_t length, std::uint8_t fill) {
    proto::BulkPiece piece;
    piece.stream = stream;
    piece.header = {0xb, 0xb, 0xb, 0xb};
    piece.body = std::make_shared<const core::Bytes>(length + 2, fill);
    piece.offset = 1;
    piece.length = length;
    return piece;
}

}  // namespace p2p::tests
