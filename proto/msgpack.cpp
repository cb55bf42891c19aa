#include "proto/msgpack.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <msgpack.hpp>

#include "core/base/check.hpp"

namespace p2p::proto {

using core::ByteView;
using core::ErrorCode;

namespace {

/// What msgpack's packer writes to.
struct Appender {
    core::Bytes& bytes;

    void write(const char* data, std::size_t size) {
        const auto view = core::as_bytes({data, size});
        bytes.insert(bytes.end(), view.begin(), view.end());
    }
};

template <typename Write>
void append(core::Bytes& bytes, Write&& write) {
    Appender appender{bytes};
    msgpack::packer<Appender> packer(appender);
    write(packer);
}

std::uint32_t length32(std::size_t size) {
    P2P_CHECK(size <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(size);
}

}  // namespace

Packer& Packer::array(std::size_t count) {
    append(bytes_, [&](auto& packer) { packer.pack_array(length32(count)); });
    return *this;
}

Packer& Packer::map(std::size_t count) {
    append(bytes_, [&](auto& packer) { packer.pack_map(length32(count)); });
    return *this;
}

Packer& Packer::uint(std::uint64_t value) {
    append(bytes_, [&](auto& packer) { packer.pack_uint64(value); });
    return *this;
}

Packer& Packer::integer(std::int64_t value) {
    append(bytes_, [&](auto& packer) { packer.pack_int64(value); });
    return *this;
}

Packer& Packer::f64(double value) {
    // By hand: msgpack's packer may turn a whole double into an integer, and one value has one
    // form.
    const auto bits = std::bit_cast<std::uint64_t>(value);
    bytes_.push_back(0xcb);
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes_.push_back(static_cast<std::uint8_t>(bits >> shift));
    }
    return *this;
}

Packer& Packer::boolean(bool value) {
    append(bytes_, [&](auto& packer) { value ? packer.pack_true() : packer.pack_false(); });
    return *this;
}

Packer& Packer::binary(ByteView bytes) {
    append(bytes_, [&](auto& packer) { packer.pack_bin(length32(bytes.size())); });
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
}

Packer& Packer::text(std::string_view text) {
    append(bytes_, [&](auto& packer) { packer.pack_str(length32(text.size())); });
    const auto bytes = core::as_bytes(text);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
}

Packer& Packer::nil() {
    append(bytes_, [](auto& packer) { packer.pack_nil(); });
    return *this;
}

core::Bytes Packer::take() {
    return std::exchange(bytes_, {});
}

void Unpacker::expect_array(std::size_t count) {
    const auto head = expect(Head::Kind::array, "an array");
    if (head && head->value != count) {
        fail(
            ErrorCode::malformed,
            "an array of " + std::to_string(head->value) + " values where " + std::to_string(count)
                + " belong");
    }
}

std::size_t Unpacker::read_array(std::size_t count_max) {
    return read_count(Head::Kind::array, count_max);
}

std::size_t Unpacker::read_map(std::size_t count_max) {
    return read_count(Head::Kind::map, count_max);
}

std::size_t Unpacker::read_count(Head::Kind kind, std::size_t count_max) {
    const std::string name = kind == Head::Kind::map ? "a map" : "an array";
    const auto head = expect(kind, name);
    if (!head) return 0;
    if (head->value > count_max) {
        fail(ErrorCode::too_large, name + " of more than " + std::to_string(count_max));
        return 0;
    }
    if (head->value > rest_.size()) {
        fail(ErrorCode::malformed, name + " longer than the message");
        return 0;
    }
    return static_cast<std::size_t>(head->value);
}

std::uint64_t Unpacker::read_uint(std::uint64_t max) {
    const auto head = expect(Head::Kind::positive, "an unsigned integer");
    if (!head) return 0;
    if (head->value > max) {
        fail(ErrorCode::too_large, "an integer above " + std::to_string(max));
        return 0;
    }
    return head->value;
}

std::int64_t Unpacker::read_integer(std::int64_t min, std::int64_t max) {
    if (!is_ok()) return 0;
    const auto head = read_head();
    if (!head) return 0;
    const bool is_negative = head->kind == Head::Kind::negative;
    const bool is_positive =
        head->kind == Head::Kind::positive && head->value <= std::uint64_t{INT64_MAX};
    const auto value = static_cast<std::int64_t>(head->value);
    if (!is_negative && !is_positive) {
        fail(ErrorCode::malformed, "no signed integer where one belongs");
        return 0;
    }
    if (value < min || value > max) {
        fail(ErrorCode::too_large, "an integer outside its range");
        return 0;
    }
    return value;
}

double Unpacker::read_f64() {
    const auto head = expect(Head::Kind::f64, "a double");
    return head ? std::bit_cast<double>(head->value) : 0.0;
}

double Unpacker::read_finite() {
    const double value = read_f64();
    if (std::isfinite(value)) return value;
    fail(ErrorCode::not_finite, "NaN or infinity where a number belongs");
    return 0.0;
}

bool Unpacker::read_bool() {
    const auto head = expect(Head::Kind::boolean, "a boolean");
    return head && head->value != 0;
}

ByteView Unpacker::read_binary(std::size_t bytes_max) {
    return read_body(Head::Kind::binary, bytes_max);
}

void Unpacker::read_binary_into(core::MutableByteView out) {
    const ByteView bytes = read_binary(out.size());
    if (!is_ok()) return;
    if (bytes.size() != out.size()) {
        fail(ErrorCode::wrong_size, "fewer bytes than " + std::to_string(out.size()));
        return;
    }
    std::copy(bytes.begin(), bytes.end(), out.begin());
}

std::string_view Unpacker::read_text(std::size_t bytes_max) {
    const std::string_view text = core::as_text(read_body(Head::Kind::text, bytes_max));
    if (is_utf8(text)) return text;
    fail(ErrorCode::malformed, "text that is not UTF-8");
    return {};
}

bool Unpacker::take_nil() {
    if (!is_ok() || rest_.empty() || rest_[0] != 0xc0) return false;
    rest_ = rest_.subspan(1);
    return true;
}

void Unpacker::fail(ErrorCode code, std::string why) {
    if (error_) return;
    error_ = core::Error{code, "a message cannot be read", std::move(why), ""};
    rest_ = {};
}

core::Status Unpacker::finish() {
    if (is_ok() && !at_end()) {
        fail(ErrorCode::malformed, std::to_string(rest_.size()) + " bytes left over at the end");
    }
    return is_ok() ? core::Status{} : core::Status{*error_};
}

std::optional<Unpacker::Head> Unpacker::expect(Head::Kind kind, std::string_view name) {
    if (!is_ok()) return std::nullopt;
    const auto head = read_head();
    if (head && head->kind == kind) return head;
    fail(ErrorCode::malformed, "something else where " + std::string(name) + " belongs");
    return std::nullopt;
}

ByteView Unpacker::read_body(Head::Kind kind, std::size_t bytes_max) {
    const auto head = expect(kind, kind == Head::Kind::text ? "text" : "binary");
    if (!head) return {};
    if (head->value > bytes_max) {
        fail(ErrorCode::too_large, "a string of more than " + std::to_string(bytes_max) + " bytes");
        return {};
    }
    if (head->value > rest_.size()) {
        fail(ErrorCode::malformed, "a string longer than the message");
        return {};
    }
    const ByteView body = rest_.first(static_cast<std::size_t>(head->value));
    rest_ = rest_.subspan(body.size());
    return body;
}

std::optional<Unpacker::Head> Unpacker::read_head() {
    if (rest_.empty()) {
        fail(ErrorCode::malformed, "it ends too early");
        return std::nullopt;
    }
    const std::uint8_t tag = rest_[0];
    rest_ = rest_.subspan(1);
    if (tag <= 0x7f) return Head{Head::Kind::positive, tag};
    if (tag >= 0xe0) return Head{Head::Kind::negative, ~std::uint64_t{0xff} | tag};
    if ((tag & 0xf0U) == 0x80) return Head{Head::Kind::map, tag & 0x0fU};
    if ((tag & 0xf0U) == 0x90) return Head{Head::Kind::array, tag & 0x0fU};
    if ((tag & 0xe0U) == 0xa0) return Head{Head::Kind::text, tag & 0x1fU};
    if (tag == 0xc0) return Head{Head::Kind::nil, 0};
    if (tag == 0xc2 || tag == 0xc3) return Head{Head::Kind::boolean, tag & 1U};
    return read_wide_head(tag);
}

std::optional<Unpacker::Head> Unpacker::read_wide_head(std::uint8_t tag) {
    // One row a tag: what it starts, the width of its number, and the least value (for negative
    // ones, the least magnitude below zero) that does not fit a shorter form.
    struct Form {
        std::uint8_t tag;
        Head::Kind kind;
        std::size_t width;
        std::uint64_t least;
    };

    using Kind = Head::Kind;
    static constexpr Form forms[] = {
        {0xc4, Kind::binary, 1, 0},         {0xc5, Kind::binary, 2, 0x100},
        {0xc6, Kind::binary, 4, 0x10000},   {0xcb, Kind::f64, 8, 0},
        {0xcc, Kind::positive, 1, 0x80},    {0xcd, Kind::positive, 2, 0x100},
        {0xce, Kind::positive, 4, 0x10000}, {0xcf, Kind::positive, 8, 0x100000000},
        {0xd0, Kind::negative, 1, 0x20},    {0xd1, Kind::negative, 2, 0x80},
        {0xd2, Kind::negative, 4, 0x8000},  {0xd3, Kind::negative, 8, 0x80000000},
        {0xd9, Kind::text, 1, 0x20},        {0xda, Kind::text, 2, 0x100},
        {0xdb, Kind::text, 4, 0x10000},     {0xdc, Kind::array, 2, 0x10},
        {0xdd, Kind::array, 4, 0x10000},    {0xde, Kind::map, 2, 0x10},
        {0xdf, Kind::map, 4, 0x10000},
    };
    const auto* form = std::find_if(
        std::begin(forms), std::end(forms), [tag](const Form& row) { return row.tag == tag; });
    if (form == std::end(forms)) {
        fail(ErrorCode::malformed, "a kind of value that no message has");
        return std::nullopt;
    }
    const auto number = read_number(form->width);
    if (!number) return std::nullopt;

    Head head{form->kind, *number};
    std::uint64_t magnitude = *number;
    if (form->kind == Kind::negative) {
        const auto unused_bits = static_cast<int>(64 - 8 * form->width);
        const auto extended = static_cast<std::int64_t>(*number << unused_bits) >> unused_bits;
        head.value = static_cast<std::uint64_t>(extended);
        // -1 - x is how far below -1 a negative x lies; a positive one is no short form at all.
        magnitude = extended < 0 ? ~head.value : 0;
    }
    if (magnitude < form->least) {
        fail(ErrorCode::malformed, "a value in a longer form than it needs");
        return std::nullopt;
    }
    return head;
}

std::optional<std::uint64_t> Unpacker::read_number(std::size_t width) {
    if (rest_.size() < width) {
        fail(ErrorCode::malformed, "it ends too early");
        return std::nullopt;
    }
    std::uint64_t number = 0;
    for (const std::uint8_t byte : rest_.first(width)) {
        number = (number << 8U) | byte;
    }
    rest_ = rest_.subspan(width);
    return number;
}

namespace {

/// Bytes of the sequence that starts with `first`, 0 where none may.
std::size_t utf8_length(std::uint8_t first) {
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return 2;
    if (first >= 0xe0 && first <= 0xef) return 3;
    if (first >= 0xf0 && first <= 0xf4) return 4;
    return 0;
}

/// The range of the second byte keeps out overlong forms, surrogates and what is past U+10FFFF.
bool is_utf8_second(std::uint8_t first, std::uint8_t second) {
    const std::uint8_t low = first == 0xe0 ? 0xa0 : (first == 0xf0 ? 0x90 : 0x80);
    const std::uint8_t high = first == 0xed ? 0x9f : (first == 0xf4 ? 0x8f : 0xbf);
    return second >= low && second <= high;
}

}  // namespace

bool is_utf8(std::string_view text) {
    ByteView rest = core::as_bytes(text);
    while (!rest.empty()) {
        const std::size_t length = utf8_length(rest[0]);
        if (length == 0 || length > rest.size()) return false;
        if (length > 1 && !is_utf8_second(rest[0], rest[1])) return false;
        for (std::size_t i = 2; i < length; ++i) {
            if ((rest[i] & 0xc0U) != 0x80) return false;
        }
        rest = rest.subspan(length);
    }
    return true;
}

}  // namespace p2p::proto
