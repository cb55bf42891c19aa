#pragma once

// How much memory a job may ask for at all: specs and blobs come from peers, and an allocation that
// fails would end the process.
//
// A bound against nonsense, not a budget: what is allowed may still swap.

#include <algorithm>
#include <cstdint>

#include <unistd.h>

namespace p2p::daemon {

/// Four fifths of the machine's memory.
[[nodiscard]] inline std::uint64_t memory_bytes_max() {
    const auto pages = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 0L));
    const auto page_bytes = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 0L));
    return pages * page_bytes / 5 * 4;
}

}  // namespace p2p::daemon
