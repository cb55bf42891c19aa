#pragma once

// The one door to MessagePack: a writer that appends, and a reader that trusts nothing.
//
// Every message, signed record and Hello goes through here, so what the reader refuses, nobody has
// to think of again: lengths beyond the caller's limit or beyond the bytes at hand, integers in a
// longer form than needed (one value has one form, so signatures and golden files stand on it),
// text that is not UTF-8, and bytes left over at the end.
// What a message means, and whether its values make sense, is left to who calls.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace p2p::proto {

/// Appends values in their shortest form. Shapes are the caller's: an array header must be followed
/// by as many values as it says.
class Packer {
  public:
    Packer& array(std::size_t count);
    /// `count` pairs of name and value follow.
    Packer& map(std::size_t count);
    Packer& uint(std::uint64_t value);
    Packer& integer(std::int64_t value);
    Packer& f64(double value);
    Packer& boolean(bool value);
    Packer& binary(core::ByteView bytes);
    Packer& text(std::string_view text);
    Packer& nil();

    [[nodiscard]] const core::Bytes& bytes() const { return bytes_; }

    /// Moves the bytes out; the packer is empty afterwards.
    [[nodiscard]] core::Bytes take();

  private:
    core::Bytes bytes_;
};

/// Reads values one after the other from a view that must outlive it.
///
/// The first fault sticks: every later read gives zero, an empty view or false, and `finish()` says
/// what was wrong. A caller may therefore read a whole message straight down and look once at the
/// end, provided that it sizes nothing by an unchecked value; `read_array` is bounded for loops.
class Unpacker {
  public:
    explicit Unpacker(core::ByteView bytes)
        : rest_(bytes) {}

    /// An array of exactly `count` values must come next.
    void expect_array(std::size_t count);

    /// An array of at most `count_max` values; never more than bytes are left. 0 on failure.
    [[nodiscard]] std::size_t read_array(std::size_t count_max);

    /// A map of at most `count_max` pairs, as read_array. Order and names are the caller's.
    [[nodiscard]] std::size_t read_map(std::size_t count_max);

    [[nodiscard]] std::uint64_t read_uint(
        std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
    [[nodiscard]] std::int64_t read_integer(
        std::int64_t min = std::numeric_limits<std::int64_t>::min(),
        std::int64_t max = std::numeric_limits<std::int64_t>::max());

    /// A double, NaN and infinity included.
    [[nodiscard]] double read_f64();

    /// A double that is a number; NaN and infinity are `not_finite`.
    [[nodiscard]] double read_finite();

    [[nodiscard]] bool read_bool();

    /// Binary of at most `bytes_max`; a view into the input.
    [[nodiscard]] core::ByteView read_binary(std::size_t bytes_max);

    /// Binary of exactly `out.size()` bytes, copied into `out` (left as it was on failure).
    void read_binary_into(core::MutableByteView out);

    /// UTF-8 of at most `bytes_max`; a view into the input.
    [[nodiscard]] std::string_view read_text(std::size_t bytes_max);

    /// True, and past it, where nil comes next; otherwise nothing is read.
    [[nodiscard]] bool take_nil();

    [[nodiscard]] bool is_ok() const { return !error_.has_value(); }

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

    /// What has not been read yet (for signatures over a part of the input).
    [[nodiscard]] core::ByteView rest() const { return rest_; }

    /// Lets the caller add a fault of meaning; an earlier fault stays.
    void fail(core::ErrorCode code, std::string why);

    /// Ok when nothing was wrong and nothing is left.
    [[nodiscard]] core::Status finish();

  private:
    struct Head {
        enum class Kind : std::uint8_t {
            nil,
            boolean,
            positive,
            negative,
            f64,
            text,
            binary,
            array,
            map
        };
        Kind kind = Kind::nil;
        std::uint64_t value = 0;  ///< number (two's complement), bits of a double, or a length
    };

    [[nodiscard]] std::optional<Head> read_head();
    [[nodiscard]] std::optional<Head> read_wide_head(std::uint8_t tag);
    [[nodiscard]] std::optional<Head> expect(Head::Kind kind, std::string_view name);
    [[nodiscard]] std::optional<std::uint64_t> read_number(std::size_t width);
    [[nodiscard]] std::size_t read_count(Head::Kind kind, std::size_t count_max);
    [[nodiscard]] core::ByteView read_body(Head::Kind kind, std::size_t bytes_max);

    core::ByteView rest_;
    std::optional<core::Error> error_;
};

/// Whether `text` is well-formed UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF).
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace p2p::proto
