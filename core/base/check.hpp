#pragma once

// What happens when this program itself is wrong: say where, and stop.
//
// A broken invariant means that nothing computed after it can be trusted, so `P2P_CHECK` is on in
// every build and aborts. It is never for input from outside: peers, files and users are answered
// with a `Result`.

#include <cstdio>
#include <cstdlib>

namespace p2p::core {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "p2ptrain: broken invariant: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace p2p::core

#define P2P_CHECK(condition)                                           \
    do {                                                               \
        if (!(condition)) [[unlikely]] {                               \
            ::p2p::core::check_failed(#condition, __FILE__, __LINE__); \
        }                                                              \
    } while (false)
