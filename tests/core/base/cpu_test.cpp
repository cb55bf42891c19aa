#include "core/base/cpu.hpp"

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

TEST(KernelLevel, HasANameThatLeadsBackToIt) {
    for (const KernelLevel level : kernel_levels) {
        EXPECT_EQ(level, kernel_level_from_name(kernel_level_name(level)));
    }
}

TEST(KernelLevel, IsNotFoundByAnUnknownName) {
    EXPECT_EQ(std::nullopt, kernel_level_from_name("v9"));
    EXPECT_EQ(std::nullopt, kernel_level_from_name(""));
}

TEST(KernelLevel, OrdersFromTheBaselineUp) {
    EXPECT_LT(KernelLevel::scalar, KernelLevel::v2);
    EXPECT_LT(KernelLevel::v2, KernelLevel::v3);
}

TEST(KernelLevel, OfThisProcessorAgreesWithTheCompilersOwnQuestion) {
#if defined(__x86_64__) && !defined(__clang__)
    const bool runs_v3 = __builtin_cpu_supports("x86-64-v3") != 0;
    EXPECT_EQ(runs_v3, best_kernel_level() == KernelLevel::v3);
#else
    EXPECT_LE(best_kernel_level(), KernelLevel::v3);
#endif
}

}  // namespace
}  // namespace p2p::core
