#include "core/nn/kernels.hpp"

#include "core/base/check.hpp"

namespace p2p::kernels {

namespace scalar {
const core::NnKernels& nn_kernels();
}

#if defined(__x86_64__)
namespace v2 {
const core::NnKernels& nn_kernels();
}

namespace v3 {
const core::NnKernels& nn_kernels();
}
#endif

}  // namespace p2p::kernels

namespace p2p::core {

const NnKernels& nn_kernels(KernelLevel level) {
    P2P_CHECK(level <= best_kernel_level());
#if defined(__x86_64__)
    if (level == KernelLevel::v3) return kernels::v3::nn_kernels();
    if (level == KernelLevel::v2) return kernels::v2::nn_kernels();
#endif
    return kernels::scalar::nn_kernels();
}

}  // namespace p2p::core
