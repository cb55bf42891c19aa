// A job.toml from anybody: what parses is valid, and its canonical bytes say the same.

#include <cstddef>
#include <cstdint>

#include "core/base/check.hpp"
#include "core/job/spec.hpp"
#include "proto/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto parsed = p2p::proto::parse_spec_toml(p2p::core::as_text({data, size}));
    if (!parsed) return 0;
    P2P_CHECK(p2p::core::validate(parsed->spec));
    const auto back = p2p::proto::read_spec_canonical(parsed->canonical);
    P2P_CHECK(back);
    P2P_CHECK(*back == parsed->spec);
    return 0;
}
