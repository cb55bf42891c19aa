#pragma once

// The one door to Asio.
//
// A file that includes this costs about two seconds to compile, so headers of the daemon keep away
// from it where they can. Errors come as values: `co_await ...(as_result)` gives a tuple whose
// first member is the error code.

// First: Asio asks the standard library's configuration how to allocate, and every file must get
// the same answer (one that had seen no standard header yet freed what another had allocated).
#include <cstddef>

#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/experimental/awaitable_operators.hpp>

namespace p2p::daemon {

using asio::awaitable;
using Tcp = asio::ip::tcp;

/// For two or more coroutines of which the first to end ends the others.
// NOLINTNEXTLINE(google-build-using-namespace): operators have no other way to be found
using namespace asio::experimental::awaitable_operators;

/// Completion token: the error code is the first member of what co_await gives; nothing throws.
inline constexpr auto as_result = asio::experimental::as_tuple(asio::use_awaitable);

}  // namespace p2p::daemon
