#include "core/data/file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace p2p::core {

namespace {

/// A file descriptor that is closed with its scope.
class Descriptor {
  public:
    explicit Descriptor(int number)
        : number_(number) {}

    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

std::string reason_of(int error_number) {
    return std::generic_category().message(error_number);
}

Error cannot_open(const std::string& path, int error_number) {
    const std::string what = "cannot open " + absolute_path(path);
    if (error_number == ENOENT || error_number == ENOTDIR) {
        return {ErrorCode::not_found, what, reason_of(error_number), "check the path"};
    }
    return {
        ErrorCode::unreadable,
        what,
        reason_of(error_number),
        "let the user that runs this program read it"};
}

Error cannot_read(const std::string& path, std::string why) {
    return {
        ErrorCode::unreadable,
        "cannot read " + absolute_path(path),
        std::move(why),
        "check the disk, and that nobody writes to the file"};
}

/// Fills `bytes` or says why it cannot.
Status read_exactly(int descriptor, MutableByteView bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot_read(path, reason_of(errno));
        if (count == 0) return cannot_read(path, "it became shorter while it was read");
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
}

}  // namespace

std::string absolute_path(const std::string& path) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.lexically_normal().string();
}

bool is_regular_file(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

bool is_folder(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error);
}

Result<Bytes> read_file(const std::string& path, std::size_t bytes_max) {
    // Without O_NONBLOCK a pipe in the file's place would hold the caller for ever.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) return cannot_open(path, errno);

    struct stat about {};

    if (::fstat(file.number(), &about) != 0) return cannot_read(path, reason_of(errno));
    if (!S_ISREG(about.st_mode)) return cannot_read(path, "it is no regular file");

    const auto size = static_cast<std::size_t>(about.st_size);
    if (size > bytes_max) {
        return Error{
            ErrorCode::too_large,
            "will not read " + absolute_path(path),
            "it has " + std::to_string(size) + " bytes, the limit is " + std::to_string(bytes_max),
            "use a smaller file"};
    }
    Bytes bytes(size);
    const Status status = read_exactly(file.number(), bytes, path);
    if (!status) return status.error();
    return bytes;
}

}  // namespace p2p::core
