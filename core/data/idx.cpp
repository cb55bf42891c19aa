#include "core/data/idx.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/limits.hpp"
#include "core/data/gzip.hpp"

namespace p2p::core {

namespace {

constexpr std::size_t magic_bytes = 4;
constexpr std::uint8_t type_unsigned_byte = 0x08;
constexpr std::uint8_t dimensions_max = 3;

/// Where the bytes of an IDX file come from: as they are, or through gzip.
class Source {
  public:
    explicit Source(ByteView file)
        : rest_(file) {}

    /// Fills `out` or fails.
    [[nodiscard]] Status read(MutableByteView out) {
        if (rest_.size() < out.size()) {
            return Error{
                ErrorCode::wrong_size,
                "the IDX file is cut off",
                std::to_string(out.size()) + " bytes were to follow, "
                    + std::to_string(rest_.size()) + " do",
                "fetch the file again"};
        }
        std::copy_n(rest_.begin(), out.size(), out.begin());
        rest_ = rest_.subspan(out.size());
        return {};
    }

    [[nodiscard]] Status finish() const {
        if (rest_.empty()) return {};
        return Error{
            ErrorCode::wrong_size,
            "the IDX file is too long",
            std::to_string(rest_.size()) + " bytes follow its last value",
            "fetch the file again"};
    }

  private:
    ByteView rest_;
};

Status check_magic(const std::array<std::uint8_t, magic_bytes>& magic) {
    if (magic[0] != 0 || magic[1] != 0) {
        return Error{
            ErrorCode::malformed,
            "this is no IDX file",
            "it does not begin with two zero bytes",
            "check that the file is what its name says"};
    }
    if (magic[2] != type_unsigned_byte) {
        return Error{
            ErrorCode::unsupported,
            "this IDX file holds no unsigned bytes",
            "its type is " + std::to_string(magic[2]) + ", only 8 is read",
            "convert its values to unsigned bytes"};
    }
    if (magic[3] < 1 || magic[3] > dimensions_max) {
        return Error{
            ErrorCode::unsupported,
            "this IDX file has " + std::to_string(magic[3]) + " dimensions",
            "1 to 3 are read",
            "reshape it"};
    }
    return {};
}

std::uint32_t load_big_endian(ByteView at) {
    return (std::uint32_t{at[0]} << 24U) | (std::uint32_t{at[1]} << 16U)
           | (std::uint32_t{at[2]} << 8U) | at[3];
}

/// Bytes that `shape` needs, at most `bytes_max`.
Result<std::size_t> size_of(const std::vector<std::uint32_t>& shape, std::size_t bytes_max) {
    std::size_t size = 1;
    for (const std::uint32_t extent : shape) {
        if (extent == 0) {
            return Error{
                ErrorCode::malformed,
                "this IDX file is empty",
                "one of its extents is 0",
                "fetch the file again"};
        }
        if (extent > limits::idx_bytes_max / size) {
            return Error{
                ErrorCode::too_large,
                "this IDX file is too large",
                "it holds more than " + std::to_string(limits::idx_bytes_max) + " bytes",
                "use a part of it"};
        }
        size *= extent;
    }
    if (size > bytes_max) {
        return Error{
            ErrorCode::wrong_size,
            "the IDX file is cut off",
            "its header promises " + std::to_string(size) + " values, the file cannot hold them",
            "fetch the file again"};
    }
    return size;
}

/// `values_max` is what the file could hold at most, so that no header allocates more.
template <typename Reader>
Result<IdxArray> parse(Reader& source, std::size_t values_max) {
    std::array<std::uint8_t, magic_bytes> magic{};
    if (const Status status = source.read(magic); !status) return status.error();
    if (const Status status = check_magic(magic); !status) return status.error();

    IdxArray array;
    for (std::uint8_t i = 0; i < magic[3]; ++i) {
        std::array<std::uint8_t, 4> extent{};
        if (const Status status = source.read(extent); !status) return status.error();
        array.shape.push_back(load_big_endian(extent));
    }
    const auto size = size_of(array.shape, values_max);
    if (!size) return size.error();
    array.values.resize(*size);
    if (const Status status = source.read(array.values); !status) return status.error();
    if (const Status status = source.finish(); !status) return status.error();
    return array;
}

}  // namespace

Result<IdxArray> parse_idx(ByteView file) {
    if (is_gzip(file)) {
        GzipReader reader(file);
        const bool is_long = file.size() > limits::idx_bytes_max / gzip_ratio_max;
        return parse(reader, is_long ? limits::idx_bytes_max : file.size() * gzip_ratio_max);
    }
    Source source(file);
    return parse(source, file.size());
}

}  // namespace p2p::core
