#pragma once

// The two JSON files of a checkpoint: what its state.json says and what its manifest promises.
//
// Text and values only, so that they are tested without a disk; daemon/checkpoint reads and writes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "daemon/checkpoint.hpp"

namespace p2p::daemon {

struct ManifestEntry {
    std::string file;  ///< a plain name
    std::string sha256;
    std::uint64_t bytes = 0;

    bool operator==(const ManifestEntry&) const = default;
};

[[nodiscard]] std::string state_text(const CheckpointState& state, std::int64_t unix_seconds);
[[nodiscard]] core::Result<CheckpointState> read_state_text(std::string_view text);

[[nodiscard]] std::string manifest_text(const std::vector<ManifestEntry>& entries);

/// Names with a slash are refused, so a manifest points at nothing outside its folder.
[[nodiscard]] core::Result<std::vector<ManifestEntry>> read_manifest_text(std::string_view text);

}  // namespace p2p::daemon
