#pragma once

// The values of job keys in their three forms: in TOML, in canonical bytes, and as SpecValue.
//
// Forms only: which key takes which form is spec_keys', what a value means is core/job/spec's.

#include <optional>
#include <string>

#include "proto/msgpack.hpp"
#include "proto/spec_keys.hpp"
#include "proto/toml.hpp"

namespace p2p::proto {

/// Nothing where the value has another form, or is longer than any value may be.
[[nodiscard]] std::optional<SpecValue> value_from_toml(SpecForm form, const TomlValue& value);

/// What `value_from_toml` reads back as the same value.
[[nodiscard]] std::string value_toml(SpecForm form, const SpecValue& value);

void write_value(Packer& out, const SpecValue& value);

/// Bounded; faults go to `in`.
[[nodiscard]] SpecValue read_value(Unpacker& in, SpecForm form);

/// The shortest decimal that reads back as the same double; the same on every machine.
[[nodiscard]] std::string shortest_text(double value);

}  // namespace p2p::proto
