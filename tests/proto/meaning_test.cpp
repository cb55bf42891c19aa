#include "proto/meaning.hpp"

#include <cmath>
#include <memory>
#include <type_traits>
#include <variant>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "tests/support/messages.hpp"

namespace p2p::proto {
namespace {

namespace limits = core::limits;
using core::SwapNumber;

/// The fixed message of that type; of a record, what its author signs.
template <typename T>
T fixed() {
    for (const auto& [name, message] : tests::fixed_messages({})) {
        const T* found = std::visit(
            [](const auto& value) -> const T* {
                using Value = std::remove_cvref_t<decltype(value)>;
                if constexpr (std::is_same_v<Value, T>) return &value;
                if constexpr (std::is_same_v<Value, core::Signed<T>>) return &value.value;
                return nullptr;
            },
            message);
        if (found != nullptr) return *found;
    }
    ADD_FAILURE();
    return {};
}

/// Whether the message is sound before `damage` and not after.
template <typename T, typename Damage>
bool is_refused_after(T message, Damage&& damage) {
    EXPECT_EQ("", fault_in(message));
    damage(message);
    return !fault_in(message).empty();
}

TEST(Meaning, KnowsAddresses) {
    for (const auto* sound :
         {"10.0.0.1:7470", "a:1", "node-1.example.org:65535", "[::]:7470", "[2001:db8::a]:80"}) {
        EXPECT_TRUE(is_host_port(sound)) << sound;
    }
    for (const auto* fault : {"",         ":",        ":1",
                              "a",        "a:",       "a:0",
                              "a:01",     "a:65536",  "a:99999999999",
                              "a:1x",     "a b:1",    "a/b:1",
                              "::1:7470", "[]:1",     "[:1",
                              "[a]:1",    "[::1]x:1", "[::1%eth0]:1",
                              "a:-1",     "a\x01:1",  "k@h:1"}) {
        EXPECT_FALSE(is_host_port(fault)) << fault;
    }
    EXPECT_FALSE(is_host_port(std::string(limits::address_bytes_max, 'a') + ":1"));
}

TEST(Meaning, RefusesPeerRecordsWithUnsoundNames) {
    const core::PeerRecord record{};
    using R = core::PeerRecord;
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.name = std::string(64, 'a'); }));
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.name = "a\x1b[2J"; }));
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.site = "a\xc2\x9b"; }));
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.release = "\xff"; }));
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.addresses = {"nowhere"}; }));
    EXPECT_TRUE(is_refused_after(record, [](R& r) { r.addresses.assign(9, "a:1"); }));
    EXPECT_EQ(
        "",
        fault_in(
            R{.id = {},
              .incarnation = {},
              .name = "caf\xc3\xa9",
              .site = {},
              .addresses = {},
              .release = {}}));
    EXPECT_TRUE(is_refused_after(core::Leave{}, [](core::Leave& m) { m.reason = "a\nb"; }));
    EXPECT_TRUE(is_refused_after(core::PeerRecords{}, [](core::PeerRecords& m) {
        m.records.resize(limits::records_a_message_max + 1);
    }));
}

TEST(Meaning, RefusesSwapsOutOfRange) {
    using Open = core::SwapOpen;
    const auto open = fixed<Open>();
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.key.n = SwapNumber{0}; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.reference = SwapNumber{1001}; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.codec = static_cast<core::CodecId>(9); }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.gamma = 0; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.gamma = NAN; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.gamma = 1.5F; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.share = 0; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.share = 0.8F; }));
    EXPECT_TRUE(is_refused_after(open, [](Open& m) { m.round.value = UINT64_MAX; }));
    EXPECT_TRUE(
        is_refused_after(core::SwapAck{}, [](core::SwapAck& m) { m.received.value = UINT64_MAX; }));
}

TEST(Meaning, RefusesPushesOfUnknownKindsAndOfWeightsAndSizesThatNobodyHas) {
    using Push = core::Push;
    const auto push = fixed<Push>();
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.key.n = core::SwapNumber{}; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.kind = core::PushKind{}; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.kind = core::PushKind{4}; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.codec = core::CodecId{99}; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.weight = 0; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.weight = 1e10; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.bytes.value = 0; }));
    EXPECT_TRUE(is_refused_after(push, [](Push& m) { m.bytes.value = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(fixed<core::ReportWish>(), [](core::ReportWish& m) {
        m.route = static_cast<core::ReportRoute>(4);
    }));
    EXPECT_TRUE(is_refused_after(
        fixed<core::ReportWish>(), [](core::ReportWish& m) { m.authors.clear(); }));
    EXPECT_TRUE(is_refused_after(fixed<core::PushAck>(), [](core::PushAck& m) {
        m.why = static_cast<core::SwapReason>(14);
    }));
}

TEST(Meaning, RefusesUnknownStagesAndReasons) {
    constexpr auto unknown = static_cast<core::SwapReason>(14);
    using State = core::SwapState;
    const auto state = fixed<State>();
    EXPECT_TRUE(is_refused_after(state, [](State& m) { m.stage = core::SwapStage{5}; }));
    EXPECT_TRUE(is_refused_after(state, [](State& m) { m.last = unknown; }));
    EXPECT_TRUE(is_refused_after(state, [](State& m) { m.reference = SwapNumber{1001}; }));
    EXPECT_TRUE(is_refused_after(state, [](State& m) { m.key.n = SwapNumber{0}; }));
    EXPECT_TRUE(is_refused_after(
        state, [](State& m) { m.chunks_held.resize(limits::chunk_bitmap_bytes_max + 1); }));
    EXPECT_TRUE(
        is_refused_after(fixed<core::SwapReady>(), [](core::SwapReady& m) { m.why = unknown; }));
    EXPECT_TRUE(
        is_refused_after(fixed<core::SwapClose>(), [](core::SwapClose& m) { m.why = unknown; }));
}

TEST(Meaning, RefusesChunksOutOfPlace) {
    using Chunk = core::SwapChunk;
    const auto chunk = fixed<Chunk>();
    EXPECT_TRUE(is_refused_after(chunk, [](Chunk& m) { m.total = 0; }));
    EXPECT_TRUE(is_refused_after(chunk, [](Chunk& m) { m.total = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(chunk, [](Chunk& m) { m.offset += 1; }));
    EXPECT_TRUE(is_refused_after(chunk, [](Chunk& m) { m.offset = 3 * limits::chunk_bytes_max; }));
    EXPECT_TRUE(
        is_refused_after(chunk, [](Chunk& m) { m.bytes = std::make_shared<core::Bytes>(4); }));
    using Blob = core::BlobChunk;
    const auto blob = fixed<Blob>();
    EXPECT_TRUE(is_refused_after(blob, [](Blob& m) { m.total = 0; }));
    EXPECT_TRUE(is_refused_after(blob, [](Blob& m) { m.total = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(blob, [](Blob& m) { m.offset = m.total; }));
    EXPECT_TRUE(is_refused_after(blob, [](Blob& m) { m.offset = UINT64_MAX; }));
    EXPECT_TRUE(
        is_refused_after(blob, [](Blob& m) { m.bytes = std::make_shared<core::Bytes>(6); }));
    EXPECT_TRUE(is_refused_after(blob, [](Blob& m) { m.bytes = std::make_shared<core::Bytes>(); }));
}

TEST(Meaning, RefusesReportsThatAreNoMeasures) {
    using Report = core::JobReport;
    const auto report = fixed<Report>();
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.state = core::JobState{0}; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.state = core::JobState{9}; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.steps.value = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.samples.value = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.swaps = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.bytes_sent = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.samples_per_second = -1; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.distance_ratio = INFINITY; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.train_loss = NAN; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.eval_loss = INFINITY; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.accuracy = 1.01; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.sketch->half[127] = 0x7c00; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.utilization = -0.01; }));
    EXPECT_TRUE(is_refused_after(report, [](Report& r) { r.training_time = core::Duration{-1}; }));
}

TEST(Meaning, RefusesJobsOutOfRange) {
    using Announcement = core::JobAnnouncement;
    const auto job = fixed<Announcement>();
    EXPECT_TRUE(is_refused_after(job, [](Announcement& r) { r.name = "../etc"; }));
    EXPECT_TRUE(is_refused_after(job, [](Announcement& r) { r.spec_bytes.value = 0; }));
    EXPECT_TRUE(is_refused_after(job, [](Announcement& r) { r.spec_bytes.value = 262'145; }));
    EXPECT_TRUE(is_refused_after(
        core::JobControl{}, [](core::JobControl& r) { r.action = core::JobControl::Action{2}; }));
    EXPECT_TRUE(
        is_refused_after(core::JobEnd{}, [](core::JobEnd& r) { r.reason = core::EndReason{0}; }));
    EXPECT_TRUE(
        is_refused_after(core::JobEnd{}, [](core::JobEnd& r) { r.reason = core::EndReason{4}; }));
    EXPECT_TRUE(
        is_refused_after(core::JobEnd{}, [](core::JobEnd& r) { r.progress.value = UINT64_MAX; }));
    const auto final_model = fixed<core::Final>();
    EXPECT_TRUE(is_refused_after(final_model, [](core::Final& r) { r.hash = {}; }));
    EXPECT_TRUE(is_refused_after(final_model, [](core::Final& r) { r.bytes.value = 0; }));
    EXPECT_TRUE(
        is_refused_after(final_model, [](core::Final& r) { r.progress.value = UINT64_MAX; }));
}

TEST(Meaning, RefusesStatesAndBlobsOutOfRange) {
    using Offer = core::StateOffer;
    EXPECT_TRUE(is_refused_after(Offer{}, [](Offer& m) { m.bytes.value = UINT64_MAX; }));
    EXPECT_TRUE(is_refused_after(Offer{}, [](Offer& m) { m.busy_for = std::chrono::hours{25}; }));
    EXPECT_TRUE(is_refused_after(Offer{}, [](Offer& m) { m.busy_for = core::Duration{-1}; }));
    EXPECT_TRUE(is_refused_after(Offer{}, [](Offer& m) { m.progress.value = UINT64_MAX; }));
    EXPECT_TRUE(
        is_refused_after(core::BlobRequest{}, [](core::BlobRequest& m) { m.offset = UINT64_MAX; }));
}

}  // namespace
}  // namespace p2p::proto
