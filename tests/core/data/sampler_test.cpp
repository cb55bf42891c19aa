#include "core/data/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

using Indices = std::vector<std::uint32_t>;

DataSpec split(SplitKind kind, double alpha = 0) {
    DataSpec spec;
    spec.split = kind;
    spec.dirichlet_alpha = alpha;
    return spec;
}

const DataSpec iid = split(SplitKind::iid);
const DataSpec own = split(SplitKind::own);
const DataSpec by_label = split(SplitKind::by_label);

DataSpec dirichlet(double alpha) {
    return split(SplitKind::dirichlet, alpha);
}

PeerId peer(std::uint8_t number) {
    PeerId id;
    id.bytes[31] = number;
    return id;
}

/// 1,000 samples of ten labels, not equally frequent.
Bytes make_labels() {
    Bytes labels(1000);
    for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::uint8_t>(std::min<std::size_t>(i % 13, 9));
    return labels;
}

Sampler make_sampler(const DataSpec& spec, std::uint8_t number, std::uint64_t seed = 1) {
    return {spec, {seed, peer(number)}, make_labels()};
}

Indices draw(const Sampler& sampler, std::uint64_t cursor, std::size_t count) {
    Indices indices(count, ~0U);
    sampler.batch(SampleCount{cursor}, indices);
    return indices;
}

std::vector<DataSpec> all_splits() {
    return {iid, by_label, dirichlet(0.3), own};
}

TEST(Sampler, OfIidDrawsEachSampleOnceInEachEpoch) {
    const Sampler sampler = make_sampler(iid, 1);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        const Indices indices = draw(sampler, epoch * 1000, 1000);
        EXPECT_EQ(1000U, std::set<std::uint32_t>(indices.begin(), indices.end()).size());
        EXPECT_LT(*std::max_element(indices.begin(), indices.end()), 1000U);
    }
}

TEST(Sampler, OfIidDrawsAnotherOrderInEachEpoch) {
    const Sampler sampler = make_sampler(iid, 1);
    EXPECT_NE(draw(sampler, 0, 1000), draw(sampler, 1000, 1000));
}

TEST(Sampler, DrawsTheSameFromTheSameSeedAndPeerOnly) {
    for (const DataSpec& spec : all_splits()) {
        const Indices mine = draw(make_sampler(spec, 1), 0, 200);
        EXPECT_EQ(mine, draw(make_sampler(spec, 1), 0, 200));
        EXPECT_NE(mine, draw(make_sampler(spec, 2), 0, 200));
        EXPECT_NE(mine, draw(make_sampler(spec, 1, /*seed=*/2), 0, 200));
    }
}

TEST(Sampler, DrawsTheSameFromAnyCursorHoweverItCameThere) {
    for (const DataSpec& spec : all_splits()) {
        const Sampler sampler = make_sampler(spec, 3);
        const Indices whole = draw(sampler, 900, 300);  // over the end of an epoch
        for (const std::size_t begin : {0U, 1U, 99U, 100U, 101U, 250U}) {
            const auto at = whole.begin() + static_cast<std::ptrdiff_t>(begin);
            EXPECT_EQ(Indices(at, at + 50), draw(sampler, 900 + begin, 50));
        }
    }
}

TEST(Sampler, DrawsValidSamplesAtHugeCursors) {
    for (const DataSpec& spec : all_splits()) {
        const Indices indices = draw(make_sampler(spec, 4), std::uint64_t{1} << 60U, 500);
        EXPECT_LT(*std::max_element(indices.begin(), indices.end()), 1000U);
    }
}

TEST(Sampler, OfByLabelDrawsTwoLabelsEquallyOften) {
    const Bytes labels = make_labels();
    std::set<std::set<std::uint8_t>> pairs;
    for (std::uint8_t number = 0; number < 20; ++number) {
        const Indices indices = draw(make_sampler(by_label, number), 0, 1000);
        std::vector<int> counts(10);
        for (const std::uint32_t index : indices)
            ++counts[labels[index]];
        std::set<std::uint8_t> pair;
        for (std::uint8_t label = 0; label < 10; ++label) {
            if (counts[label] == 0) continue;
            pair.insert(label);
            EXPECT_NEAR(500, counts[label], 80);  // five deviations of 16
        }
        EXPECT_EQ(2U, pair.size());
        pairs.insert(pair);
    }
    EXPECT_GT(pairs.size(), 10U);
}

TEST(Sampler, OfDirichletDrawsLabelsByItsWeights) {
    const Bytes labels = make_labels();
    const Sampler sampler = make_sampler(dirichlet(1), 6);
    std::vector<int> counts(10);
    for (const std::uint32_t index : draw(sampler, 0, 20000))
        ++counts[labels[index]];
    for (std::size_t label = 0; label < 10; ++label)
        EXPECT_NEAR(sampler.label_weights()[label], counts[label] / 20000.0, 0.02);
}

/// The mean over peers of the sum of squared weights: 1 for one label, 0.1 for ten equal ones.
double concentration(double alpha) {
    double sum = 0;
    for (std::uint8_t number = 0; number < 200; ++number) {
        const Sampler sampler = make_sampler(dirichlet(alpha), number);
        for (const double weight : sampler.label_weights())
            sum += weight * weight / 200;
    }
    return sum;
}

TEST(Sampler, OfDirichletIsAsConcentratedAsItsAlphaSays) {
    // E[sum w^2] = (alpha + 1) / (k alpha + 1) for k labels.
    EXPECT_NEAR(101.0 / 1001, concentration(100), 0.01);
    EXPECT_NEAR(2.0 / 11, concentration(1), 0.02);
    EXPECT_NEAR(1.1 / 2, concentration(0.1), 0.06);
}

TEST(Sampler, OfDirichletStandsAnAlphaThatUnderflows) {
    const Sampler sampler = make_sampler(dirichlet(1e-9), 1);
    double sum = 0;
    for (const double weight : sampler.label_weights())
        sum += weight;
    EXPECT_NEAR(1, sum, 1e-12);
    EXPECT_LT(draw(sampler, 0, 1).front(), 1000U);
}

TEST(Sampler, GivesNoWeightToALabelThatDoesNotOccur) {
    const Bytes labels{0, 2, 2, 5};
    for (std::uint8_t number = 0; number < 20; ++number) {
        for (const DataSpec& spec : {by_label, dirichlet(1)}) {
            const Sampler sampler(spec, {1, peer(number)}, labels);
            EXPECT_EQ(0, sampler.label_weights()[1]);
            EXPECT_EQ(6U, sampler.label_weights().size());
            for (const std::uint32_t index : draw(sampler, 0, 50))
                EXPECT_LT(index, 4U);
        }
    }
}

TEST(Sampler, DrawsFromASetOfOneSample) {
    for (const DataSpec& spec : all_splits()) {
        const Sampler sampler(spec, {1, peer(1)}, Bytes{3});
        EXPECT_EQ(Indices(5, 0), draw(sampler, 0, 5));
    }
}

TEST(Sampler, OfWeightedLabelsDoesNotRepeatWithinAWalkThroughTheLabel) {
    const Bytes labels(100, 7);  // one label: each walk must be a permutation
    const Sampler sampler(by_label, {1, peer(1)}, labels);
    const Indices walk = draw(sampler, 100, 100);
    EXPECT_EQ(100U, std::set<std::uint32_t>(walk.begin(), walk.end()).size());
}

}  // namespace
}  // namespace p2p::core
