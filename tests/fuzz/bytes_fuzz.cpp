// Feeds anything to the readers of text forms: what they accept must be what they would write.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"
#include "core/base/types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace p2p::core;  // NOLINT(google-build-using-namespace)
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    if (const auto bytes = from_base32(text)) P2P_CHECK(to_base32(*bytes) == text);
    if (const auto bytes = from_hex(text)) P2P_CHECK(bytes->size() * 2 == size);
    if (const auto id = PeerId::from_text(text)) P2P_CHECK(id->text() == text);
    return 0;
}
