// A job spec's canonical bytes from anybody: what is taken is valid and in the one form that its
// text gives again.

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/job/spec.hpp"
#include "proto/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const p2p::core::ByteView bytes(data, size);
    const auto spec = p2p::proto::read_spec_canonical(bytes);
    if (!spec) return 0;
    P2P_CHECK(p2p::core::validate(*spec));
    const auto text = p2p::proto::spec_canonical_to_toml(bytes);
    P2P_CHECK(text);
    const auto parsed = p2p::proto::parse_spec_toml(*text);
    P2P_CHECK(parsed);
    P2P_CHECK(parsed->spec == *spec);
    P2P_CHECK(parsed->id == p2p::proto::spec_id(bytes));
    return 0;
}
