// Pieces of a shard as a peer may send them: any range, any order, again and again.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"
#include "core/codec/chunks.hpp"

namespace {

using p2p::core::ByteView;

constexpr std::size_t record_bytes = 6;  // an offset and a length, scaled to come near the edges

std::uint64_t near_piece(std::uint16_t number) {
    return p2p::core::limits::chunk_bytes_max * (number >> 8U) + (number & 3U);
}

void accept_records(std::uint64_t total, ByteView records) {
    static const p2p::core::Bytes zeros(p2p::core::limits::chunk_bytes_max + 8);
    p2p::core::ChunkAssembly assembly(total);
    for (; records.size() >= record_bytes; records = records.subspan(record_bytes)) {
        const auto offset = near_piece(p2p::core::load_le<std::uint16_t>(records.data()));
        const auto length = p2p::core::load_le<std::uint32_t>(records.data() + 2) % zeros.size();
        const auto before = assembly.bytes_held();
        const auto taken = assembly.accept(offset, ByteView(zeros).first(length));
        const bool is_new = taken && *taken;
        P2P_CHECK(assembly.bytes_held() == before + (is_new ? length : 0));
        P2P_CHECK(assembly.bytes_held() <= total);
    }
    const auto missing = p2p::core::missing_chunks(total, assembly.held());
    P2P_CHECK(missing.has_value());
    P2P_CHECK(missing->empty() == assembly.is_complete());
    if (assembly.is_complete()) P2P_CHECK(assembly.take().size() == total);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    const std::uint64_t total = near_piece(p2p::core::load_le<std::uint16_t>(data)) / 8 + data[2];
    const ByteView rest(data + 3, size - 3);
    accept_records(total, rest);
    const auto missing = p2p::core::missing_chunks(total, rest);
    P2P_CHECK(!missing || missing->size() <= p2p::core::chunk_count(total));
    return 0;
}
