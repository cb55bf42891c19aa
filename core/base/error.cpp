#include "core/base/error.hpp"

namespace p2p::core {

std::string_view error_name(ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed: return "malformed";
        case ErrorCode::too_large: return "too_large";
        case ErrorCode::wrong_size: return "wrong_size";
        case ErrorCode::not_finite: return "not_finite";
        case ErrorCode::forged: return "forged";
        case ErrorCode::wrong_network: return "wrong_network";
        case ErrorCode::not_permitted: return "not_permitted";
        case ErrorCode::unsupported: return "unsupported";
        case ErrorCode::not_found: return "not_found";
        case ErrorCode::conflict: return "conflict";
        case ErrorCode::invalid: return "invalid";
        case ErrorCode::unreadable: return "unreadable";
        case ErrorCode::unwritable: return "unwritable";
        case ErrorCode::insecure: return "insecure";
        case ErrorCode::in_use: return "in_use";
        case ErrorCode::unreachable: return "unreachable";
        case ErrorCode::timed_out: return "timed_out";
        case ErrorCode::interrupted: return "interrupted";
    }
    return "unknown";
}

std::string Error::text() const {
    std::string line = what;
    if (!why.empty()) line += ": " + why;
    if (!next.empty()) line += " (next: " + next + ")";
    return line;
}

}  // namespace p2p::core
