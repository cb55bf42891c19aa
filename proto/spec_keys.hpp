#pragma once

// The keys of a job spec: one table for the parser, the canonical bytes, the errors and the manual.
//
// A key that is not here does not exist. What values make sense together is left to core/job/spec.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/tensor.hpp"
#include "core/job/spec.hpp"

namespace p2p::proto {

/// What form a key's value has, before it means anything.
enum class SpecForm : std::uint8_t {
    count,     ///< a whole number, not negative
    real,      ///< a finite number
    text,      ///< a string
    texts,     ///< a string, or an array of strings that are joined by '+'
    duration,  ///< a string with units ("30s"); canonically a count of nanoseconds
    counts,    ///< an array of whole numbers
    tensors,   ///< an array of {name, shape}
};

/// count and duration, real, text and texts, counts, tensors.
using SpecValue = std::variant<
    std::uint64_t,
    double,
    std::string,
    std::vector<std::uint64_t>,
    std::vector<core::TensorInfo>>;

struct SpecKey {
    std::string_view name;  ///< with its section: "train.epochs"
    SpecForm form;
    std::string_view takes;  ///< what values it may have, in words
    /// Puts the value into the spec and brings it into its normal form (one value has one form,
    /// so that one job has one id). False where it is none of those that the key takes.
    /// @pre the value has the kind of `form`
    bool (*set)(core::JobSpec& spec, SpecValue& value);
};

inline constexpr std::string_view spec_schema = "p2pd.job/1";

/// All keys, sorted by name.
[[nodiscard]] std::span<const SpecKey> spec_keys();

/// Null where there is none of that name.
[[nodiscard]] const SpecKey* find_spec_key(std::string_view name);

}  // namespace p2p::proto
