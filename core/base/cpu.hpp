#pragma once

// Which compiled form of the kernels this processor can run.
//
// Kernels of codec/ and nn/ are compiled once for each level and chosen at start. What a level may
// assume of the processor is the psABI's x86-64-v2 and x86-64-v3; other processors have `scalar`
// only. The choice belongs to main(), which hands the level down.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace p2p::core {

/// Ordered: a processor that runs one level runs all below it.
enum class KernelLevel : std::uint8_t {
    scalar,  ///< whatever the compiler takes as the baseline
    v2,      ///< x86-64-v2: SSE4.2, POPCNT
    v3,      ///< x86-64-v3: AVX2, FMA, BMI
};

inline constexpr std::array<KernelLevel, 3> kernel_levels{
    KernelLevel::scalar, KernelLevel::v2, KernelLevel::v3};

/// The highest level that this processor and its operating system run.
[[nodiscard]] KernelLevel best_kernel_level();

/// "scalar", "v2" or "v3".
[[nodiscard]] std::string_view kernel_level_name(KernelLevel level);

/// Nothing where no level has that name.
[[nodiscard]] std::optional<KernelLevel> kernel_level_from_name(std::string_view name);

}  // namespace p2p::core
