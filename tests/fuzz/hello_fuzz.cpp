// Hello, Close and the MessagePack reader under them, fed with anything.
//
// What decodes must encode to the same bytes again: one value has one form.

#include <cstdint>

#include "core/base/check.hpp"
#include "proto/hello.hpp"
#include "proto/msgpack.hpp"

namespace p2p::proto {
namespace {

void try_hello(core::ByteView bytes) {
    const auto hello = decode_hello(bytes);
    if (hello) P2P_CHECK(encode(*hello) == core::to_bytes(bytes));
}

void try_close(core::ByteView bytes) {
    const auto close = decode_close(bytes);
    if (!close) return;
    // A code of the future is read as another one, but stays readable.
    P2P_CHECK(decode_close(encode(*close)).value() == *close);
}

/// Reads values of every kind in the order that the first bytes choose.
void try_reader(core::ByteView bytes) {
    const std::size_t plan_bytes = bytes.size() / 4;
    Unpacker in(bytes.subspan(plan_bytes));
    Packer out;
    for (const std::uint8_t step : bytes.first(plan_bytes)) {
        switch (step % 8) {
            case 0: out.uint(in.read_uint()); break;
            case 1: out.integer(in.read_integer()); break;
            case 2: out.f64(in.read_f64()); break;
            case 3: out.boolean(in.read_bool()); break;
            case 4: out.binary(in.read_binary(1000)); break;
            case 5: out.text(in.read_text(1000)); break;
            case 6: out.array(in.read_array(1000)); break;
            default:
                if (in.take_nil()) out.nil();
                break;
        }
        if (!in.is_ok()) return;
    }
    const auto read = bytes.subspan(plan_bytes, bytes.size() - plan_bytes - in.rest().size());
    P2P_CHECK(out.bytes() == core::to_bytes(read));
}

}  // namespace
}  // namespace p2p::proto

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const p2p::core::ByteView bytes(data, size);
    p2p::proto::try_hello(bytes);
    p2p::proto::try_close(bytes);
    p2p::proto::try_reader(bytes);
    return 0;
}
