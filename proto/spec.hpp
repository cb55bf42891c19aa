#pragma once

// A job spec as text (job.toml), as canonical bytes, and its id.
//
// The canonical bytes are a messagepack map of the keys that were given, sorted by name, each value
// in its one normal form; the JobId is their BLAKE2b-256. Two texts that say the same are one job;
// a default that was not written is no part of it. What the values mean is core/job/spec's.

#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "core/base/types.hpp"
#include "core/job/spec.hpp"

namespace p2p::proto {

struct ParsedSpec {
    core::JobSpec spec;     ///< valid (core::validate)
    core::Bytes canonical;  ///< at most limits::job_spec_bytes_max
    core::JobId id;         ///< of the canonical bytes

    bool operator==(const ParsedSpec&) const = default;
};

/// job.toml; errors name line and column, the key, and what would do (for an unknown key the
/// nearest known one). `schema` may be left out; canonically it is always there.
[[nodiscard]] core::Result<ParsedSpec> parse_spec_toml(std::string_view text);

/// The spec of canonical bytes, which may come from anybody: bounded, in the one form that
/// `parse_spec_toml` gives, and valid.
[[nodiscard]] core::Result<core::JobSpec> read_spec_canonical(core::ByteView canonical);

/// BLAKE2b-256 of the canonical bytes.
[[nodiscard]] core::JobId spec_id(core::ByteView canonical);

/// job.toml again: the keys that were given, by section. Parsing it gives the same bytes.
[[nodiscard]] core::Result<std::string> spec_canonical_to_toml(core::ByteView canonical);

}  // namespace p2p::proto
