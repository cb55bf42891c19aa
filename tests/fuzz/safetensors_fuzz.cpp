// Any bytes as a safetensors file: header, cover, and the tensors of a small model out of it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const p2p::core::ByteView file(data, size);
    const auto header = p2p::daemon::read_safetensors_header(file);
    if (!header) return 0;
    std::vector<float> flat(3);
    const std::vector<p2p::core::TensorInfo> layout{{"a", {2}, 0}, {"b", {}, 2}};
    static_cast<void>(p2p::daemon::gather_tensors(file, *header, layout, "", flat));
    return 0;
}
