#include "core/base/cpu.hpp"

#include "core/base/check.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace p2p::core {

namespace {

#if defined(__x86_64__)
constexpr unsigned leaf_features = 1;
constexpr unsigned leaf_extended = 0x80000001U;
constexpr unsigned cmpxchg16b_bit = 1U << 13U;  // of leaf_features, ecx
constexpr unsigned movbe_bit = 1U << 22U;       // of leaf_features, ecx
constexpr unsigned f16c_bit = 1U << 29U;        // of leaf_features, ecx
constexpr unsigned lahf_bit = 1U << 0U;         // of leaf_extended, ecx
constexpr unsigned lzcnt_bit = 1U << 5U;        // of leaf_extended, ecx

// clang 14 does not know these by name, so they are asked for by bit.
bool has_bits(unsigned leaf, unsigned ecx_bits) {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) != 0 && (ecx & ecx_bits) == ecx_bits;
}

bool runs_v2() {
    return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3")
           && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2")
           && __builtin_cpu_supports("popcnt") && has_bits(leaf_features, cmpxchg16b_bit)
           && has_bits(leaf_extended, lahf_bit);
}

// The compiler's answer for AVX includes that the operating system saves the wide registers.
bool runs_v3() {
    return __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2")
           && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
           && __builtin_cpu_supports("fma") && has_bits(leaf_features, movbe_bit | f16c_bit)
           && has_bits(leaf_extended, lzcnt_bit);
}
#endif

}  // namespace

KernelLevel best_kernel_level() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!runs_v2()) return KernelLevel::scalar;
    return runs_v3() ? KernelLevel::v3 : KernelLevel::v2;
#else
    return KernelLevel::scalar;
#endif
}

std::string_view kernel_level_name(KernelLevel level) {
    switch (level) {
        case KernelLevel::scalar: return "scalar";
        case KernelLevel::v2: return "v2";
        case KernelLevel::v3: return "v3";
    }
    P2P_CHECK(false);  // no enumerator
    return {};
}

std::optional<KernelLevel> kernel_level_from_name(std::string_view name) {
    for (const KernelLevel level : kernel_levels) {
        if (kernel_level_name(level) == name) return level;
    }
    return std::nullopt;
}

}  // namespace p2p::core
