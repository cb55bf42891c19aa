#include "daemon/trainer_layout.hpp"

#include "core/nn/model.hpp"

namespace p2p::daemon {

std::vector<core::TensorInfo> replica_layout(const core::ModelSpec& model) {
    if (model.kind != core::ModelKind::external) return core::model_tensors(model);
    std::vector<core::TensorInfo> layout = model.tensors;
    std::uint64_t offset = 0;
    for (auto& tensor : layout) {
        tensor.offset = offset;
        offset += tensor.size();
    }
    return layout;
}

}  // namespace p2p::daemon
