#include "daemon/workers_edges.hpp"

#include "tests/daemon/workshop_node.hpp"

namespace p2p::daemon {
namespace {

TEST_F(WorkshopTest, ASwapMovesBothEndsByExactlyOppositeDisplacements) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    for (const CodecId codec :
         {CodecId::fp32,
          CodecId::bf16,
          CodecId::q8,
          CodecId::q4,
          CodecId::fp16,
          CodecId::modulo_2,
          CodecId::delta_q8,
          CodecId::delta_q4}) {
        const auto x = a.parameters_of(spec_).parameters;
        const auto y = b.parameters_of(spec_).parameters;
        const Swap swap{SwapNumber{static_cast<std::uint64_t>(codec)}, codec, true};
        const auto decoded = exchange(a, b, swap);
        EXPECT_GT(decoded.distance, 0);
        const auto by_a = apply(a, b, swap, 0.25F);
        const auto by_b = apply(b, a, swap, 0.25F);
        EXPECT_EQ(by_a.displacement_norm, by_b.displacement_norm);
        EXPECT_NEAR(0.25 * decoded.distance, by_a.displacement_norm, 1e-5);
        const auto x_after = a.parameters_of(spec_).parameters;
        const auto y_after = b.parameters_of(spec_).parameters;
        for (std::size_t i = 0; i < floats; ++i) {
            // One rounding an end is all that the sum can move by.
            EXPECT_NEAR(double{x[i]} + y[i], double{x_after[i]} + y_after[i], 3e-7) << i;
        }
        a.run_to(spec_, a.newest.steps.value + 5);
    }
}

TEST_F(WorkshopTest, HalfWeightsMakeTwoReplicasOne) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    const Swap first{SwapNumber{1}};
    exchange(a, b, first);
    apply(a, b, first, 0.5F);
    apply(b, a, first, 0.5F);
    const Swap second{SwapNumber{2}};
    const auto decoded = exchange(a, b, second);
    EXPECT_LT(decoded.distance, 1e-6 * decoded.own_norm);
}

TEST_F(WorkshopTest, DeltasFollowTheReferencesOfBothEnds) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 50);
    b.train(spec_, 30);
    for (std::uint64_t n = 1; n <= 6; ++n) {
        const Swap swap{SwapNumber{n}, CodecId::delta_q8, /*keyframe=*/n == 1};
        exchange(a, b, swap);
        apply(a, b, swap, 0.25F);
        apply(b, a, swap, 0.25F);
        EXPECT_EQ(nullptr, a.shop.encoded(edge(b), swap.n));  // nobody needs it any more
        a.run_to(spec_, a.newest.steps.value + 2);
    }
}

TEST_F(WorkshopTest, TheFirstSwapBuildsOnTheJobsFirstParametersWhereBothDrawThem) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Swap first{
        .n = SwapNumber{1}, .codec = CodecId::delta_q8, .keyframe = false, .from_initial = true};
    exchange(a, b, first);
    apply(a, b, first, 0.25F);
    apply(b, a, first, 0.25F);
    const Swap next{SwapNumber{2}, CodecId::delta_q4, false};
    exchange(a, b, next);
}

TEST_F(WorkshopTest, ModuloThatWasExceededIsSaidToBeThat) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Swap keyframe{SwapNumber{1}, CodecId::modulo_8, true};
    exchange(a, b, keyframe);
    apply(a, b, keyframe, 0.25F);
    apply(b, a, keyframe, 0.25F);
    const Swap near{SwapNumber{2}, CodecId::modulo_8, false};
    exchange(a, b, near);
    apply(a, b, near, 0.25F);
    apply(b, a, near, 0.25F);
    a.run_to(spec_, 300);  // one end goes far away
    const Swap far{SwapNumber{3}, CodecId::modulo_8, false};
    encode(a, b, far);
    encode(b, a, far);
    deliver(a, b, far);
    const auto decoded = decode(b, a, far);
    EXPECT_TRUE(decoded.well_formed);
    EXPECT_FALSE(decoded.within_theta);
}

TEST_F(WorkshopTest, ADroppedSwapTakesItsReferencesAlong) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Swap keyframe{SwapNumber{1}, CodecId::delta_q8, true};
    exchange(a, b, keyframe);
    apply(a, b, keyframe, 0.25F);
    const Swap delta{SwapNumber{2}, CodecId::delta_q8, false};
    encode(a, b, delta);
    a.shop.work({}, core::DropSwap{edge(b), delta.n});
    EXPECT_EQ(nullptr, a.shop.encoded(edge(b), delta.n));
    const auto result = a.work(core::Encode{
        .edge = edge(b), .n = SwapNumber{3}, .range = all, .codec = CodecId::delta_q8, .seed = 3});
    EXPECT_TRUE(std::holds_alternative<core::Error>(result));
}

TEST_F(WorkshopTest, ASwapDroppedUnderWayIsStillAnsweredAndTheNextOneIsClean) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    const Ticket ticket{9000};
    a.shop.work(
        ticket,
        core::Encode{.edge = edge(b), .n = SwapNumber{1}, .range = all, .codec = CodecId::q8});
    a.shop.work({}, core::DropSwap{edge(b), SwapNumber{1}});
    ASSERT_TRUE(loop_.run_until([&] { return a.results.contains(ticket); }));
    EXPECT_EQ(nullptr, a.shop.encoded(edge(b), SwapNumber{1}));
    const Swap next{SwapNumber{2}, CodecId::q8};
    exchange(a, b, next);
}

TEST_F(WorkshopTest, BytesThatDoNotDecodeAreSaidToBeMalformed) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    const Swap swap{SwapNumber{1}, CodecId::bf16};
    const auto encoded = encode(a, b, swap);
    const auto junk = std::make_shared<const core::Bytes>(encoded.bytes_total, std::uint8_t{0xee});
    a.shop.work({}, core::StoreChunk{edge(b), swap.n, 0, junk->size(), junk});
    EXPECT_FALSE(decode(a, b, swap).well_formed);
}

TEST_F(WorkshopTest, ARoundsSnapshotStaysAsItWas) {
    Node a(temp_, loop_, 1);
    Node b(temp_, loop_, 2);
    a.train(spec_, 20);
    b.train(spec_, 20);
    a.shop.work({}, core::TakeRoundSnapshot{spec_.id});
    const auto then = a.parameters_of(spec_).parameters;
    a.run_to(spec_, 60);
    const Swap swap{SwapNumber{1}, CodecId::fp32, false, /*of_round=*/true};
    encode(a, b, swap);
    encode(b, a, {SwapNumber{1}});
    deliver(a, b, swap);
    deliver(b, a, swap);
    const auto decoded = decode(b, a, {SwapNumber{1}});
    const double distance =
        distance_ratio(b.parameters_of(spec_).parameters, then) * decoded.own_norm;
    EXPECT_NEAR(distance, decoded.distance, 1e-5);
}

}  // namespace
}  // namespace p2p::daemon
