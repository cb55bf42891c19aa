#include "proto/control.hpp"

#include <array>

#include "core/base/bytes.hpp"
#include "proto/json.hpp"

namespace p2p::proto {

namespace {

using core::ErrorCode;

constexpr std::size_t error_document_bytes_max = core::mib;

constexpr std::array all_codes{
    ErrorCode::malformed,
    ErrorCode::too_large,
    ErrorCode::wrong_size,
    ErrorCode::not_finite,
    ErrorCode::forged,
    ErrorCode::wrong_network,
    ErrorCode::not_permitted,
    ErrorCode::unsupported,
    ErrorCode::not_found,
    ErrorCode::conflict,
    ErrorCode::invalid,
    ErrorCode::unreadable,
    ErrorCode::unwritable,
    ErrorCode::insecure,
    ErrorCode::in_use,
    ErrorCode::unreachable,
    ErrorCode::timed_out,
    ErrorCode::interrupted,
};

ErrorCode code_of(std::string_view name) {
    for (const ErrorCode code : all_codes) {
        if (core::error_name(code) == name) return code;
    }
    return ErrorCode::invalid;
}

std::string text_at(const Json& object, std::string_view key) {
    return json_member<std::string>(object, key).value_or("");
}

}  // namespace

std::string error_document(const core::Error& error) {
    const Json document{
        {"error",
         {{"code", core::error_name(error.code)},
          {"text", error.what},
          {"why", error.why},
          {"next", error.next}}}};
    return json_text(document) + "\n";
}

std::optional<core::Error> read_error_document(std::string_view text) {
    const auto document = parse_json(text, error_document_bytes_max);
    if (!document || !document->is_object()) return std::nullopt;
    const auto error = document->find("error");
    if (error == document->end() || !error->is_object()) return std::nullopt;
    return core::Error{
        code_of(text_at(*error, "code")),
        text_at(*error, "text"),
        text_at(*error, "why"),
        text_at(*error, "next")};
}

unsigned http_status(core::ErrorCode code) {
    switch (code) {
        case ErrorCode::malformed:
        case ErrorCode::wrong_size:
        case ErrorCode::not_finite:
        case ErrorCode::forged:
        case ErrorCode::unsupported:
        case ErrorCode::invalid: return 400;
        case ErrorCode::not_permitted: return 403;
        case ErrorCode::not_found: return 404;
        case ErrorCode::wrong_network:
        case ErrorCode::conflict:
        case ErrorCode::in_use: return 409;
        case ErrorCode::too_large: return 413;
        case ErrorCode::unreadable:
        case ErrorCode::unwritable:
        case ErrorCode::insecure: return 500;
        case ErrorCode::unreachable:
        case ErrorCode::interrupted: return 503;
        case ErrorCode::timed_out: return 504;
    }
    return 500;
}

}  // namespace p2p::proto
