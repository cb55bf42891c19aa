#include "daemon/port_holder.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

namespace p2p::daemon {
namespace {

namespace fs = std::filesystem;

/// Adds the inodes of sockets that listen on `port`, by a table like /proc/net/tcp:
/// "sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode ...".
void add_listeners(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // headings
    while (std::getline(file, line)) {
        std::istringstream words(line);
        std::string slot;
        std::string local;
        std::string state;
        std::string skipped;
        std::string inode;
        words >> slot >> local >> skipped >> state;
        for (int i = 0; i < 5; ++i) {
            words >> skipped;
        }
        words >> inode;
        const auto colon = local.rfind(':');
        if (!words || state != "0A" || colon == std::string::npos) continue;
        if (std::stoul(local.substr(colon + 1), nullptr, 16) == port) inodes.insert(inode);
    }
}

bool holds_one(const fs::path& process, const std::set<std::string>& inodes) {
    std::error_code fault;
    for (fs::directory_iterator file(process / "fd", fault), end; !fault && file != end;
         file.increment(fault)) {
        std::error_code unreadable;
        const std::string target = fs::read_symlink(file->path(), unreadable).string();
        constexpr std::string_view prefix = "socket:[";
        if (unreadable || target.substr(0, prefix.size()) != prefix) continue;
        const std::string inode = target.substr(prefix.size(), target.size() - prefix.size() - 1);
        if (inodes.contains(inode)) return true;
    }
    return false;
}

bool is_process(const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::optional<std::string> port_holder(std::uint16_t port) {
    std::set<std::string> inodes;
    add_listeners("/proc/net/tcp", port, inodes);
    add_listeners("/proc/net/tcp6", port, inodes);
    if (inodes.empty()) return std::nullopt;

    std::error_code fault;
    for (fs::directory_iterator process("/proc", fault), end; !fault && process != end;
         process.increment(fault)) {
        const std::string pid = process->path().filename().string();
        if (!is_process(pid) || !holds_one(process->path(), inodes)) continue;
        std::string name;
        std::ifstream comm(process->path() / "comm");
        std::getline(comm, name);
        return name.append(" (pid ").append(pid).append(")");
    }
    return std::nullopt;
}

}  // namespace p2p::daemon
