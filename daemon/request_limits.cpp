#include "daemon/request_limits.hpp"

#include <utility>

#include "core/base/limits.hpp"
#include "proto/control.hpp"

namespace p2p::daemon {

namespace {

using core::Error;
using core::ErrorCode;
namespace limits = core::limits;

/// More digits than any length that could be allowed.
constexpr std::size_t length_digits_max = 18;

Error too_large(std::string_view what, std::size_t bytes_max) {
    return {
        ErrorCode::too_large,
        std::string(what) + " of a request may have " + std::to_string(bytes_max) + " bytes",
        "",
        ""};
}

}  // namespace

ControlResponse error_response(const Error& error, unsigned status) {
    ControlResponse response;
    response.status = status == 0 ? proto::http_status(error.code) : status;
    response.body = proto::error_document(error);
    return response;
}

std::optional<ControlResponse> find_refusal(const RequestHead& head) {
    if (head.header_bytes > limits::http_header_bytes_max) {
        return error_response(too_large("the headers", limits::http_header_bytes_max), 431);
    }
    if (!head.transfer_encoding.empty()) {
        const Error error{
            ErrorCode::unsupported,
            "the length of a request must be known",
            "Transfer-Encoding is not taken",
            "send Content-Length"};
        return error_response(error, 411);
    }
    const bool is_number =
        head.content_length.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number || head.content_length.size() > length_digits_max) {
        return error_response({ErrorCode::malformed, "Content-Length is no length", "", ""});
    }
    if (!head.content_length.empty()
        && std::stoull(std::string(head.content_length)) > limits::http_body_bytes_max) {
        return error_response(too_large("the body", limits::http_body_bytes_max));
    }
    if (!head.may_change && head.method != "GET") {
        const Error error{
            ErrorCode::not_permitted,
            "this socket only answers questions (GET)",
            "",
            "use control.sock: as root, or as a member of its group"};
        return error_response(error);
    }
    return std::nullopt;
}

std::string slow_request_answer() {
    const Error error{ErrorCode::timed_out, "the request did not come whole in time", "", ""};
    const std::string body = proto::error_document(error);
    return "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
           "Content-Type: application/json\r\nContent-Length: "
           + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace p2p::daemon
