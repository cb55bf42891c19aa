#pragma once

// What went wrong outside of this program, in a form that a person can act on.
//
// An error says what happened, why, and what to do next. Its code is stable: exit codes, health
// lines, metrics and `{"error":...}` of p2pctl are derived from it.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace p2p::core {

/// Stable names of causes; what the number is shown as stands in `error_name`.
enum class ErrorCode : std::uint8_t {
    malformed,      ///< bytes that do not have the shape they claim
    too_large,      ///< more than a limit of limits.hpp allows
    wrong_size,     ///< a length differs from what the layout or the header says
    not_finite,     ///< NaN or infinity where numbers are needed
    forged,         ///< a signature, tag or hash does not fit
    wrong_network,  ///< the other end belongs to another network
    not_permitted,  ///< known, but not allowed to do that
    unsupported,    ///< a version, format or combination that we do not speak
    not_found,      ///< no such peer, job, checkpoint, file
    conflict,       ///< exists already with other contents, or in a state that forbids it
    invalid,        ///< a value outside what makes sense (configuration, job spec, option)
    unreadable,     ///< a file or folder could not be read
    unwritable,     ///< a file or folder could not be written
    insecure,       ///< modes or owners of a secret that would let others read it
    in_use,         ///< a port, lock or socket is held by somebody else
    unreachable,    ///< nobody answers there
    timed_out,      ///< a deadline passed
    interrupted,    ///< ended because this program is stopping
};

/// The code in words, as logs and JSON show it ("wrong_network").
[[nodiscard]] std::string_view error_name(ErrorCode code);

struct Error {
    ErrorCode code = ErrorCode::invalid;
    std::string what;  ///< what happened, with the thing it happened to
    std::string why;   ///< the cause, where known
    std::string next;  ///< what the reader can do

    bool operator==(const Error&) const = default;

    /// "what: why (next: next)" on one line.
    [[nodiscard]] std::string text() const;

    /// The same error seen from one call further out.
    [[nodiscard]] Error with_context(std::string_view context) const {
        Error outer = *this;
        outer.what = std::string(context) + ": " + what;
        return outer;
    }
};

}  // namespace p2p::core
