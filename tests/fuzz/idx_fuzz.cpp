// Any bytes given to the IDX reader, plain and through gzip: it answers, and within its bounds.

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "core/data/gzip.hpp"
#include "core/data/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace p2p::core;
    const ByteView file(data, size);
    const auto array = parse_idx(file);
    if (!array) {
        P2P_CHECK(!array.error().what.empty() && !array.error().next.empty());
        return 0;
    }
    std::size_t values = 1;
    for (const std::uint32_t extent : array->shape)
        values *= extent;
    P2P_CHECK(array->shape.size() >= 1 && array->shape.size() <= 3);
    P2P_CHECK(values == array->values.size() && values > 0);
    P2P_CHECK(values <= limits::idx_bytes_max);
    P2P_CHECK(values <= size * (is_gzip(file) ? gzip_ratio_max : 1));
    return 0;
}
