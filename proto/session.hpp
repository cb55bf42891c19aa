#pragma once

// One conversation between two nodes, as bytes in and bytes out: no socket, no clock, no entropy.
//
// The owner feeds what the socket gave, takes the events, and writes what `take_output` moves out.
// The session greets, proves who is there, agrees on a protocol, seals control before bulk, opens,
// and changes keys. It ends by itself at the first byte that should not be there.
// Deadlines, addresses, allow-lists and what a message means are left to the owner.
//
// Who may be here is the owner's to say: `remote()` is known before our own Hello is sealed (always
// at the accepting end, and after the handshake at the dialling end), so an owner that looks after
// each `feed` and calls `refuse` tells a stranger nothing but the refusal.
//
// After a failure there may still be something to say (`has_output`): the owner writes that, then
// closes the socket.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "proto/cipher.hpp"
#include "proto/frame.hpp"
#include "proto/greeting.hpp"
#include "proto/hello.hpp"
#include "proto/keys.hpp"
#include "proto/outbox.hpp"

namespace p2p::proto {

struct SessionConfig {
    core::NetworkId network;         ///< zeros: none, which matches nobody's
    Hello hello;                     ///< what we say of ourselves; the id is filled in
    bool accept_unknown_id = false;  ///< whether an accepted connection may come without our id
    std::uint64_t rekey_messages = core::limits::rekey_messages;
    std::size_t bulk_low_water_bytes = 256 * core::kib;  ///< below this `wants_bulk`
};

/// Both ends have accepted each other's Hello: the link is up.
struct Established {
    Hello hello;                 ///< the other end's
    std::uint16_t protocol = 0;  ///< the highest that both speak
};

/// One whole control message, authentic.
struct Control {
    core::Bytes message;
};

/// One frame of bulk, authentic: the sender's header, then raw bytes.
struct Bulk {
    std::uint16_t stream = 0;
    std::shared_ptr<const std::uint8_t[]> buffer;  ///< keeps `bytes` alive
    core::ByteView bytes;
};

using SessionEvent = std::variant<Established, Control, Bulk>;

struct SessionCounters {
    std::uint64_t bytes_sent = 0;  ///< on the wire, as for `bytes_received`
    std::uint64_t bytes_received = 0;
    std::uint64_t records_sent = 0;
    std::uint64_t records_received = 0;
    std::uint64_t control_sent = 0;  ///< messages
    std::uint64_t control_received = 0;
    std::uint64_t bulk_sent = 0;  ///< frames
    std::uint64_t bulk_received = 0;
    std::uint64_t rekeys_sent = 0;
    std::uint64_t rekeys_received = 0;
};

/// The least buffer for `take_output`: one record of full length.
inline constexpr std::size_t output_bytes_min =
    record_prefix_bytes + core::limits::noise_message_bytes_max;

class Session {
  public:
    /// Dials a node whose id is known (IK). `forged` where that id is no sound key.
    /// The ephemeral seed is 32 fresh random bytes, for this session alone.
    [[nodiscard]] static core::Result<Session> dial(
        SessionConfig config,
        const Identity& identity,
        const core::PeerId& remote,
        const SecretKey& ephemeral_seed);

    /// Dials an address of which no id is known (XX). Whoever answers is checked by the owner.
    [[nodiscard]] static Session dial_unknown(
        SessionConfig config, const Identity& identity, const SecretKey& ephemeral_seed);

    /// The accepting end of both.
    [[nodiscard]] static Session accept(
        SessionConfig config, const Identity& identity, const SecretKey& ephemeral_seed);

    /// Takes bytes from the socket, cut anywhere. An error ends the session and sticks.
    [[nodiscard]] core::Status feed(core::ByteView input);

    /// What has come, in order; events that came before a failure are still given.
    [[nodiscard]] std::optional<SessionEvent> next_event();

    /// Queues one message. `conflict` before the link is up or after the end, `too_large` where it
    /// or the queue is.
    [[nodiscard]] core::Status push_control(core::Bytes message);

    /// Queues one frame of bulk, sealed when everything before it is; same errors.
    [[nodiscard]] core::Status push_bulk(BulkPiece piece);

    /// Seals what goes next into `out`, whole records only, and returns the bytes written.
    /// @pre out.size() >= output_bytes_min
    [[nodiscard]] std::size_t take_output(core::MutableByteView out);

    /// The same by value, at most `bytes_max` (or one record, where that is more).
    [[nodiscard]] core::Bytes take_output(std::size_t bytes_max = 128 * core::kib);

    [[nodiscard]] bool has_output() const;

    /// Little bulk waits: the owner may push more.
    [[nodiscard]] bool wants_bulk() const;

    /// Changes our sending key with the next record (the owner does so each rekey_interval).
    void request_rekey();

    /// Ends the session and tells the other end why. Nothing queued before is sent any more.
    void refuse(core::Error reason);

    [[nodiscard]] bool is_established() const { return stage_ == Stage::established; }

    [[nodiscard]] bool is_over() const { return stage_ == Stage::over; }

    /// Why it is over. @pre is_over()
    [[nodiscard]] const core::Error& failure() const;

    /// The authenticated other end, as soon as that is known.
    [[nodiscard]] const std::optional<core::PeerId>& remote() const { return remote_; }

    /// What it said of itself, as soon as that has come.
    [[nodiscard]] const std::optional<Hello>& remote_hello() const { return remote_hello_; }

    /// Names this session; the same at both ends, and of no other session.
    [[nodiscard]] const std::optional<Hash>& handshake_hash() const { return handshake_hash_; }

    [[nodiscard]] SessionCounters counters() const;

    [[nodiscard]] std::size_t queued_control_bytes() const { return outbox_.control_bytes(); }

    [[nodiscard]] std::size_t queued_bulk_bytes() const { return outbox_.bulk_bytes(); }

  private:
    //  greeting -> introducing -> established
    //      \____________|______________/`--> over
    enum class Stage : std::uint8_t {
        greeting,     ///< handshake messages
        introducing,  ///< the channel is secret; Hellos and their confirmations are under way
        established,  ///< the link is up
        over,         ///< failed, refused or closed; output may still wait
    };

    /// The frames of one record that are still to be given out.
    struct Opened {
        std::shared_ptr<const std::uint8_t[]> buffer;
        core::ByteView rest;
    };

    Session(SessionConfig config, const Identity& identity, Role role, Greeting greeting);

    [[nodiscard]] core::Status advance(core::ByteView& input);
    [[nodiscard]] core::Status on_greeted();
    [[nodiscard]] core::Status on_record(core::ByteView sealed);
    [[nodiscard]] core::Status on_frame(const Frame& frame, bool is_alone);
    [[nodiscard]] core::Status on_hello(core::ByteView body);
    [[nodiscard]] core::Status on_confirm();
    [[nodiscard]] core::Status on_rekey(bool is_alone);
    [[nodiscard]] core::Status check_hello(const Hello& hello) const;
    [[nodiscard]] core::Status can_push() const;
    [[nodiscard]] bool is_rekey_due() const;
    [[nodiscard]] std::size_t next_record_bytes() const;
    [[nodiscard]] bool seal_record(core::MutableByteView out);
    [[nodiscard]] bool seal_rekey(core::MutableByteView out);
    void end(core::Error error);
    void stop(core::Error error, bool is_told);

    SessionConfig config_;
    Role role_;
    Stage stage_ = Stage::greeting;
    std::optional<Greeting> greeting_;
    core::Bytes greeting_output_;
    std::optional<core::PeerId> dialled_;  ///< whom we meant
    std::optional<core::PeerId> remote_;
    std::optional<Key> remote_static_;
    std::optional<Hash> handshake_hash_;
    std::optional<Hello> remote_hello_;
    std::uint16_t protocol_ = 0;
    std::optional<Sealer> sealer_;
    std::optional<Opener> opener_;
    RecordReader records_;
    Outbox outbox_;
    std::deque<Opened> opened_;
    bool established_is_told_ = false;
    bool is_closed_by_remote_ = false;
    bool rekey_is_requested_ = false;
    std::uint64_t sealed_at_rekey_ = 0;
    std::optional<core::Error> failure_;
    SessionCounters counters_;
};

}  // namespace p2p::proto
