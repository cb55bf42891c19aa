#include "core/data/batch.hpp"

#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/rng.hpp"

namespace p2p::core {
namespace {

using Indices = std::vector<std::uint32_t>;

Samples draw_samples(std::size_t count, std::size_t features) {
    Rng rng(8);
    Samples samples{Bytes(count * features), Bytes(count)};
    for (std::uint8_t& pixel : samples.images)
        pixel = static_cast<std::uint8_t>(rng.below(256));
    for (std::uint8_t& label : samples.labels)
        label = static_cast<std::uint8_t>(rng.below(10));
    return samples;
}

TEST(FillInputs, StandardizesEachPixelOfTheChosenSamplesInTheirOrder) {
    const Samples samples = draw_samples(5, 37);
    const Standardization standard{0.3, 0.25};
    const Indices indices{4, 0, 4};
    std::vector<float> inputs(3 * 37);
    fill_inputs(samples, standard, indices, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double pixel = samples.images[indices[i / 37] * 37 + i % 37];
        ASSERT_NEAR((pixel / 255 - 0.3) / 0.25, inputs[i], 1e-6);
    }
}

TEST(FillInputs, GivesAWholeTrainSetMeanZeroAndVarianceOne) {
    const Samples samples = draw_samples(50, 37);
    Indices all(50);
    for (std::uint32_t i = 0; i < 50; ++i)
        all[i] = i;
    std::vector<float> inputs(50 * 37);
    fill_inputs(samples, standardization_of(samples.images), all, inputs);
    double sum = 0;
    double squares = 0;
    for (const float input : inputs) {
        sum += static_cast<double>(input);
        squares += static_cast<double>(input) * static_cast<double>(input);
    }
    EXPECT_NEAR(0, sum / (50 * 37), 1e-6);
    EXPECT_NEAR(1, squares / (50 * 37), 1e-6);
}

TEST(FillLabels, GivesTheLabelsOfTheChosenSamples) {
    const Samples samples{Bytes(4), {7, 8, 9, 3}};
    Bytes labels(3);
    fill_labels(samples, Indices{2, 0, 2}, labels);
    EXPECT_EQ((Bytes{9, 7, 9}), labels);
}

TEST(FillInputs, AbortsOnAnIndexBeyondTheSetOrABufferOfAnotherSize) {
    const Samples samples = draw_samples(2, 3);
    std::vector<float> inputs(3);
    EXPECT_DEATH(fill_inputs(samples, {}, Indices{2}, inputs), "broken invariant");
    EXPECT_DEATH(fill_inputs(samples, {}, Indices{0, 1}, inputs), "broken invariant");
    EXPECT_DEATH(fill_inputs(samples, {}, Indices{}, inputs), "broken invariant");
}

TEST(BatchHash, IsEqualForEqualContentsWhereverTheyLie) {
    Samples samples = draw_samples(4, 37);
    std::copy_n(samples.images.begin(), 37, samples.images.begin() + 3 * 37);
    samples.labels[3] = samples.labels[0];
    EXPECT_EQ(batch_hash(samples, Indices{0, 1}), batch_hash(samples, Indices{3, 1}));
}

TEST(BatchHash, ChangesWithEachPixelEachLabelAndTheOrder) {
    const Samples samples = draw_samples(2, 41);
    const Indices both{0, 1};
    std::set<std::uint64_t> hashes{batch_hash(samples, both), batch_hash(samples, Indices{1, 0})};
    for (std::size_t i = 0; i < samples.images.size(); ++i) {
        Samples other = samples;
        other.images[i] ^= 1U;
        hashes.insert(batch_hash(other, both));
    }
    for (std::size_t i = 0; i < 2; ++i) {
        Samples other = samples;
        other.labels[i] ^= 1U;
        hashes.insert(batch_hash(other, both));
    }
    EXPECT_EQ(2 + 2 * 41 + 2, hashes.size());
}

TEST(BatchHash, HasTheValueThatItHadOnTheDayItWasWritten) {
    EXPECT_EQ(798827778870193431U, batch_hash(draw_samples(2, 41), Indices{0, 1}));
}

}  // namespace
}  // namespace p2p::core
