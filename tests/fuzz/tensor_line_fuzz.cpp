// Any text as a line of a training process on tensor.sock.

#include <cstddef>
#include <cstdint>

#include "daemon/tensor_line.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = p2p::core::as_text({data, size});
    static_cast<void>(p2p::daemon::read_tensor_line(text));
    return 0;
}
