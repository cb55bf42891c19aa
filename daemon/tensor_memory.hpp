#pragma once

// The memory that a training process shares with the daemon: two areas of as many floats as the
// model has.
//
// It comes as a sealed memfd. Without the seal against shrinking, the client could cut it and kill
// the daemon with SIGBUS at the next touch, so an unsealed one is refused. Its contents are the
// client's at all times: read as numbers, never believed to stand still.

#include <cstdint>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "daemon/files.hpp"

namespace p2p::daemon {

class TensorMemory {
  public:
    /// Maps `fd` for a model of `floats`. Errors: insecure (not a memfd, or seals are missing);
    /// wrong_size.
    static core::Result<TensorMemory> map(const Descriptor& fd, std::uint64_t floats);

    TensorMemory(TensorMemory&& other) noexcept;
    TensorMemory& operator=(TensorMemory&& other) noexcept;
    TensorMemory(const TensorMemory&) = delete;
    TensorMemory& operator=(const TensorMemory&) = delete;
    ~TensorMemory();

    /// Where the client puts what was asked of its parameters.
    [[nodiscard]] core::FloatView snapshot() const { return {begin_, floats_}; }

    /// Where the client finds what to add, or to take over.
    [[nodiscard]] core::MutableFloatView displacement() const {
        return {begin_ + floats_, floats_};
    }

  private:
    TensorMemory(float* begin, std::size_t floats)
        : begin_(begin),
          floats_(floats) {}

    float* begin_;
    std::size_t floats_;
};

}  // namespace p2p::daemon
