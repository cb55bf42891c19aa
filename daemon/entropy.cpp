#include "daemon/entropy.hpp"

#include <cerrno>
#include <cstddef>

#include <sys/random.h>

#include "core/base/check.hpp"

namespace p2p::daemon {

void fill_entropy(core::MutableByteView out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
        const ssize_t count = getrandom(out.data() + filled, out.size() - filled, 0);
        if (count < 0 && errno == EINTR) continue;
        P2P_CHECK(count > 0);
        filled += static_cast<std::size_t>(count);
    }
}

std::array<std::uint8_t, 32> entropy_seed() {
    std::array<std::uint8_t, 32> seed{};
    fill_entropy(seed);
    return seed;
}

std::uint64_t entropy_u64() {
    std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
    fill_entropy(bytes);
    return core::load_le<std::uint64_t>(bytes.data());
}

}  // namespace p2p::daemon
