#include "core/data/shuffle.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

std::vector<std::uint64_t> images_of(const Permutation& permutation) {
    std::vector<std::uint64_t> images;
    for (std::uint64_t i = 0; i < permutation.size(); ++i)
        images.push_back(permutation.at(i));
    return images;
}

void expect_bijection(std::uint64_t key, std::uint64_t size) {
    std::vector<bool> seen(size);
    for (const std::uint64_t image : images_of(Permutation(key, size))) {
        ASSERT_LT(image, size);
        ASSERT_FALSE(seen[image]) << "size " << size << " hits " << image << " twice";
        seen[image] = true;
    }
}

TEST(Permutation, IsABijectionForEachSmallSize) {
    for (std::uint64_t size = 1; size <= 300; ++size)
        expect_bijection(size * 7, size);
}

TEST(Permutation, IsABijectionAroundPowersOfTwoAndForAWholeSet) {
    for (const std::uint64_t size : {1023U, 1024U, 1025U, 32767U, 32768U, 32769U, 60000U})
        expect_bijection(3, size);
}

TEST(Permutation, StaysInsideOfTheLargestSizes) {
    for (const std::uint64_t size : {~std::uint64_t{0}, (std::uint64_t{1} << 63U) + 1}) {
        const Permutation permutation(1, size);
        for (std::uint64_t i = 0; i < 1000; ++i)
            ASSERT_LT(permutation.at(size - 1 - i), size);
    }
}

TEST(Permutation, IsTheSameForTheSameKeyAndAnotherForAnother) {
    EXPECT_EQ(images_of(Permutation(5, 100)), images_of(Permutation(5, 100)));
    EXPECT_NE(images_of(Permutation(5, 100)), images_of(Permutation(6, 100)));
    EXPECT_EQ(Permutation(5, 100).at(17), permuted(5, 100, 17));
}

TEST(Permutation, SendsAnElementToEachPlaceAboutEquallyOften) {
    constexpr std::uint64_t size = 10;
    constexpr int keys = 10000;
    std::vector<int> counts(size * size);
    for (std::uint64_t key = 0; key < keys; ++key) {
        const auto images = images_of(Permutation(key, size));
        for (std::uint64_t i = 0; i < size; ++i)
            ++counts[i * size + images[i]];
    }
    for (const int count : counts)
        EXPECT_NEAR(keys / size, count, 150);  // five deviations of 30
}

TEST(Permutation, LeavesNoCorrelationBetweenNeighbours) {
    constexpr std::uint64_t size = 60000;
    const auto images = images_of(Permutation(9, size));
    double sum = 0;
    for (std::uint64_t i = 0; i + 1 < size; ++i) {
        const double a = static_cast<double>(images[i]) / size - 0.5;
        const double b = static_cast<double>(images[i + 1]) / size - 0.5;
        sum += 12 * a * b;
    }
    EXPECT_NEAR(0, sum / size, 5 / std::sqrt(size));
}

}  // namespace
}  // namespace p2p::core
