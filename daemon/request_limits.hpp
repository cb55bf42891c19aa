#pragma once

// What a request to the control sockets may be: decided from its head, before any of its body.
//
// Plain values in, the refusal out; control_server reads them from HTTP and keeps the time.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/control_message.hpp"

namespace p2p::daemon {

struct RequestHead {
    std::string_view method;
    bool may_change = false;  ///< it came through control.sock
    std::size_t header_bytes = 0;
    std::string_view transfer_encoding;  ///< empty: none, as it must be
    std::string_view content_length;     ///< as sent; empty: no body
};

/// The answer to a request that is outside of the limits; nothing: it may go on.
[[nodiscard]] std::optional<ControlResponse> find_refusal(const RequestHead& head);

/// A whole HTTP answer with status 408, for a connection that ends with it.
[[nodiscard]] std::string slow_request_answer();

}  // namespace p2p::daemon
