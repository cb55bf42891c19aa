#include "daemon/state_dir.hpp"

#include <cerrno>
#include <charconv>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace p2p::daemon {

using core::Error;
using core::ErrorCode;
using core::Incarnation;
using core::Result;
using core::Status;

namespace {

constexpr std::size_t number_bytes_max = 32;

/// The number in `text`, less a line end; false where there is anything else.
bool parse_number(std::string_view text, std::uint64_t& number) {
    if (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// Who wrote the lock file last; the kernel's lock decides, this only tells people.
std::string holder_of(const Path& lock_file) {
    const auto text = read_file(lock_file, number_bytes_max);
    std::uint64_t pid = 0;
    if (!text || !parse_number(core::as_text(*text), pid)) return "another process";
    return "process " + std::to_string(pid);
}

Status write_pid(int fd) {
    const std::string text = std::to_string(::getpid()) + "\n";
    const bool is_written =
        ::ftruncate(fd, 0) == 0
        && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    if (is_written) return {};
    return Error{ErrorCode::unwritable, "cannot write the lock file", "", ""};
}

}  // namespace

Result<StateDir> StateDir::open(const Path& folder) {
    std::error_code ignored;
    const Path full = std::filesystem::absolute(folder, ignored);
    if (auto status = make_folder(full); !status) {
        return status.error().with_context("the state folder");
    }

    const Path lock_file = full / "lock";
    Descriptor lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.is_open()) {
        return system_error(
            ErrorCode::unwritable, "cannot write in the state folder:", lock_file, errno);
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) {
            return system_error(ErrorCode::unwritable, "cannot lock", lock_file, errno);
        }
        return Error{
            ErrorCode::in_use,
            "another p2pd holds the state folder " + full.string(),
            holder_of(lock_file) + " has locked it",
            "stop that one, or give this one its own node.state_dir"};
    }
    if (auto status = write_pid(lock.get()); !status) {
        return status.error().with_context(lock_file.string());
    }
    for (const char* name : {"trust", "jobs"}) {
        if (auto status = make_folder(full / name); !status) return status.error();
    }
    return StateDir(full, std::move(lock));
}

Result<Incarnation> StateDir::raise_incarnation() {
    const Path file = path_ / "incarnation";
    std::uint64_t last = 0;
    const auto text = read_file(file, number_bytes_max);
    if (!text && text.error().code != ErrorCode::not_found) return text.error();
    if (text && !parse_number(core::as_text(*text), last)) {
        return Error{
            ErrorCode::malformed,
            file.string() + " does not hold a number",
            "peers know this node by a count of its starts that may never fall",
            "write into it a number above all that `p2pctl peer show` of a peer has seen"};
    }
    const std::string next = std::to_string(last + 1) + "\n";
    if (auto status = replace_file(file, core::as_bytes(next)); !status) return status.error();
    return Incarnation{last + 1};
}

}  // namespace p2p::daemon
