#include "daemon/tensor_memory.hpp"

#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Result;

namespace {

constexpr int seals_needed = F_SEAL_SHRINK | F_SEAL_GROW;

std::size_t bytes_of(std::size_t floats) {
    return 2 * floats * sizeof(float);
}

}  // namespace

Result<TensorMemory> TensorMemory::map(const Descriptor& fd, std::uint64_t floats) {
    const int seals = ::fcntl(fd.get(), F_GET_SEALS);
    if (seals < 0 || (seals & seals_needed) != seals_needed) {
        return Error{
            ErrorCode::insecure,
            "the shared memory was refused",
            "it is no memfd with F_SEAL_SHRINK and F_SEAL_GROW",
            "create it with MFD_ALLOW_SEALING, set its size, then add both seals"};
    }

    struct stat info {};

    const std::size_t bytes = bytes_of(floats);
    if (::fstat(fd.get(), &info) != 0 || info.st_size != static_cast<off_t>(bytes) || floats == 0) {
        return Error{
            ErrorCode::wrong_size,
            "the shared memory was refused",
            std::to_string(info.st_size) + " bytes, the job's tensors need "
                + std::to_string(bytes),
            ""};
    }
    void* const begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (begin == MAP_FAILED) {
        return Error{ErrorCode::unreadable, "the shared memory could not be mapped", "", ""};
    }
    return TensorMemory(static_cast<float*>(begin), floats);
}

TensorMemory::TensorMemory(TensorMemory&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)),
      floats_(std::exchange(other.floats_, 0)) {}

TensorMemory& TensorMemory::operator=(TensorMemory&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(floats_, other.floats_);
    return *this;
}

TensorMemory::~TensorMemory() {
    if (begin_ != nullptr) ::munmap(begin_, bytes_of(floats_));
}

}  // namespace p2p::daemon
