#include "daemon/own_addresses.hpp"

#include <algorithm>
#include <string_view>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/base/limits.hpp"

namespace p2p::daemon {
namespace {

struct InterfaceAddress {
    std::string host;
    bool is_v6 = false;
    bool is_loopback = false;
};

/// Bridges of container engines: their addresses mean another machine to everybody else.
bool is_bridge_name(std::string_view name) {
    for (const std::string_view prefix : {"docker", "br-", "veth", "virbr", "cni", "podman"}) {
        if (name.substr(0, prefix.size()) == prefix) return true;
    }
    return false;
}

bool read_address(const ifaddrs& entry, InterfaceAddress& out) {
    char text[INET6_ADDRSTRLEN];
    const void* bytes = nullptr;
    if (entry.ifa_addr->sa_family == AF_INET) {
        // NOLINTNEXTLINE(bugprone-casting-through-void): the sockets API is made of such casts
        const void* address = entry.ifa_addr;
        bytes = &static_cast<const sockaddr_in*>(address)->sin_addr;
    } else if (entry.ifa_addr->sa_family == AF_INET6) {
        const void* address = entry.ifa_addr;
        const auto& v6 = static_cast<const sockaddr_in6*>(address)->sin6_addr;
        if (IN6_IS_ADDR_LINKLOCAL(&v6)) return false;
        bytes = &v6;
    } else {
        return false;
    }
    if (inet_ntop(entry.ifa_addr->sa_family, bytes, text, sizeof text) == nullptr) return false;
    out.host = text;
    out.is_v6 = entry.ifa_addr->sa_family == AF_INET6;
    out.is_loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
    return true;
}

std::vector<InterfaceAddress> interface_addresses() {
    std::vector<InterfaceAddress> found;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return found;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
        if (is_bridge_name(entry->ifa_name)) continue;
        InterfaceAddress address;
        if (read_address(*entry, address)) found.push_back(std::move(address));
    }
    freeifaddrs(list);
    return found;
}

void add(std::vector<std::string>& out, const HostPort& address) {
    const std::string text = address.text();
    const bool is_known = std::find(out.begin(), out.end(), text) != out.end();
    if (!is_known && out.size() < core::limits::addresses_a_peer_max) out.push_back(text);
}

}  // namespace

std::vector<std::string> own_addresses(const std::vector<HostPort>& listening) {
    const std::vector<InterfaceAddress> interfaces = interface_addresses();
    std::vector<std::string> out;
    for (const bool loopback : {false, true}) {
        if (loopback && !out.empty()) break;
        for (const HostPort& listen : listening) {
            const bool is_any_v4 = listen.host == "0.0.0.0";
            const bool is_any_v6 = listen.host == "::";
            if (!is_any_v4 && !is_any_v6) {
                add(out, listen);
                continue;
            }
            for (const InterfaceAddress& address : interfaces) {
                if (address.is_v6 != is_any_v6 || address.is_loopback != loopback) continue;
                add(out, {address.host, listen.port});
            }
        }
    }
    return out;
}

}  // namespace p2p::daemon
