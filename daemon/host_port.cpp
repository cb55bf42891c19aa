#include "daemon/host_port.hpp"

#include <charconv>

namespace p2p::daemon {
namespace {

core::Error bad_address(std::string_view text, const char* why) {
    return {
        core::ErrorCode::invalid,
        "address \"" + std::string(text) + "\"",
        why,
        "write host:port, or [v6 address]:port"};
}

}  // namespace

std::string HostPort::text() const {
    const bool is_v6 = host.find(':') != std::string::npos;
    return (is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

core::Result<HostPort> host_port_from(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad_address(text, "it has no port");

    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return bad_address(text, "an address with colons needs brackets");
    }
    if (host.empty()) return bad_address(text, "it has no host");

    HostPort parts{std::string(host), 0};
    const auto [end, fault] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parts.port);
    if (fault != std::errc() || end != digits.data() + digits.size()) {
        return bad_address(text, "its port is no number from 0 to 65535");
    }
    return parts;
}

}  // namespace p2p::daemon
