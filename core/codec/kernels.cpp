#include "core/codec/kernels.hpp"

#include "core/base/check.hpp"

namespace p2p::kernels {

namespace scalar {
extern const core::Kernels codec_table;
}
#if defined(__x86_64__)
namespace v2 {
extern const core::Kernels codec_table;
}

namespace v3 {
extern const core::Kernels codec_table;
}
#endif

}  // namespace p2p::kernels

namespace p2p::core {

const Kernels& kernels(KernelLevel level) {
    P2P_CHECK(level <= best_kernel_level());
#if defined(__x86_64__)
    if (level == KernelLevel::v3) return kernels::v3::codec_table;
    if (level == KernelLevel::v2) return kernels::v2::codec_table;
#endif
    return kernels::scalar::codec_table;
}

}  // namespace p2p::core
