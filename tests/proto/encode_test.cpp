#include "proto/encode.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "proto/decode.hpp"
#include "tests/support/messages.hpp"

namespace p2p::proto {
namespace {

using core::Bytes;
using core::Message;
using tests::decoded;
using tests::encoded;
using tests::is_bulk;
using tests::test_identity;
namespace limits = core::limits;

std::string golden(const std::string& name) {
    std::ifstream file(P2P_SOURCE_ROOT "/tests/golden/messages/" + name + ".hex");
    std::string text;
    file >> text;
    return text;
}

TEST(Encode, GivesTheGoldenBytesOfEveryMessage) {
    const auto self = test_identity(1);
    std::set<std::size_t> kinds;
    for (const auto& [name, message] : tests::fixed_messages(self.id())) {
        EXPECT_EQ(golden(name), core::to_hex(encoded(message, self))) << name;
        kinds.insert(message.index());
    }
    EXPECT_EQ(std::variant_size_v<Message>, kinds.size());
}

TEST(Encode, IsUndoneByDecodeForAnyMessage) {
    const auto self = test_identity(1);
    core::Rng rng(42);
    for (int i = 0; i < 4000; ++i) {
        const Message message = tests::random_message(rng, self.id());
        const Bytes bytes = encoded(message, self);
        const auto back = decoded(is_bulk(message), bytes);
        ASSERT_TRUE(back) << i << " " << back.error().text();
        EXPECT_EQ(message, *back) << i << " kind " << message.index();
        EXPECT_EQ(bytes, encoded(*back, self)) << i;
    }
}

TEST(Encode, PassesOnTheRecordOfAnotherByteForByte) {
    const auto author = test_identity(1);
    const auto neighbour = test_identity(2);
    for (const auto& [name, message] : tests::fixed_messages(author.id())) {
        const Bytes bytes = encoded(message, author);
        const auto received = decoded(is_bulk(message), bytes);
        ASSERT_TRUE(received) << name;
        EXPECT_EQ(bytes, encoded(*received, neighbour)) << name;
    }
}

TEST(Encode, SignsAsSignDoes) {
    const auto self = test_identity(1);
    const core::JobControl stop{};
    const auto record = sign(stop, self);
    EXPECT_EQ(0U, core::as_text(record.signed_bytes).find("p2ptrain/1 JobControl"));
    EXPECT_EQ(encode_control(core::made_here(self.id(), stop), self), encode_control(record, self));
}

/// The longest report that there is.
core::JobReport largest_report() {
    core::JobReport report;
    report.incarnation = core::Incarnation{UINT64_MAX};
    report.sequence = UINT64_MAX;
    report.steps = core::StepCount{limits::count_node_max};
    report.samples = core::SampleCount{limits::count_node_max};
    report.swaps = limits::count_node_max;
    report.bytes_sent = limits::count_mesh_max;
    report.training_time = limits::training_time_max;
    report.batch_hash = UINT64_MAX;
    report.sketch.emplace();
    return report;
}

TEST(Encode, KeepsEveryReportBelowARecordsLimit) {
    const auto self = test_identity(1);
    const auto bytes = encode_control(core::made_here(self.id(), largest_report()), self);
    EXPECT_LE(bytes.size(), limits::record_bytes_max);
    EXPECT_LE(bytes.size(), 4096U / 7);  // 4 KiB/s of reports hold seven, sketches included
}

TEST(Encode, TellsADivergedLossAsTheLargestNumber) {
    const auto self = test_identity(1);
    core::JobReport report;
    report.train_loss = std::nan("");
    report.eval_loss = -INFINITY;
    report.utilization = 1.25;
    report.accuracy = std::nan("");
    report.samples_per_second = -1;
    const auto back = decode_control(encode_control(core::made_here(self.id(), report), self));
    ASSERT_TRUE(back) << back.error().text();
    const auto& told = std::get<core::Signed<core::JobReport>>(*back).value;
    EXPECT_EQ(std::numeric_limits<double>::max(), told.train_loss);
    EXPECT_EQ(std::numeric_limits<double>::max(), told.eval_loss);
    EXPECT_EQ(1.0, told.utilization);
    EXPECT_EQ(0.0, told.accuracy);
    EXPECT_EQ(0.0, told.samples_per_second);
}

TEST(Encode, LeavesOutTheLastAddressesThatDoNotFitARecord) {
    const auto self = test_identity(1);
    core::PeerRecord record{
        .id = self.id(),
        .incarnation = {},
        .name = "n",
        .site = {},
        .addresses = {},
        .release = {}};
    for (std::size_t i = 0; i < limits::addresses_a_peer_max; ++i) {
        record.addresses.push_back(std::string(240, static_cast<char>('a' + i)) + ":7470");
    }
    const auto kept = sign(record, self);
    EXPECT_LE(kept.signed_bytes.size(), limits::signed_bytes_max);
    ASSERT_EQ(3U, kept.value.addresses.size());
    EXPECT_EQ(record.addresses[0], kept.value.addresses[0]);
}

TEST(Encode, FitsThirtyOfTheLargestRecordsInOneMessage) {
    const auto self = test_identity(1);
    core::PeerRecords message;
    for (int i = 0; i < 30; ++i) {
        core::PeerRecord record{
            .id = self.id(),
            .incarnation = {},
            .name = "n",
            .site = {},
            .addresses = {},
            .release = {}};
        record.addresses.assign(3, std::string(249, 'a') + ":7470");
        record.site = std::string(limits::name_bytes_max, 's');
        message.records.push_back(core::made_here(self.id(), record));
    }
    const auto bytes = encode_control(message, self);
    EXPECT_LE(bytes.size(), limits::records_bytes_max);
    EXPECT_TRUE(decode_control(bytes));
}

using EncodeDeathTest = ::testing::Test;

TEST(EncodeDeathTest, RefusesToSignForAnother) {
    const auto self = test_identity(1);
    const auto record = core::made_here(test_identity(2).id(), core::JobControl{});
    EXPECT_DEATH((void)encode_control(record, self), "author");
}

TEST(EncodeDeathTest, RefusesChunksAndWhatMakesNoSense) {
    const auto self = test_identity(1);
    EXPECT_DEATH((void)encode_control(core::SwapChunk{}, self), "control");
    EXPECT_DEATH((void)encode_control(core::BlobChunk{}, self), "control");
    EXPECT_DEATH((void)encode_control(core::SwapOpen{}, self), "fault_in");
    EXPECT_DEATH((void)encode_swap_chunk_header({}, 1, 10), "chunk_bytes_max");
    EXPECT_DEATH((void)encode_blob_chunk_header({}, 10, 10), "offset");
}

}  // namespace
}  // namespace p2p::proto
