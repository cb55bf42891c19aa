// Asio's own functions, compiled once (ASIO_SEPARATE_COMPILATION) instead of in each file that
// includes it; apart from the daemon's library, since GCC sees null dereferences in them.

#include <cstddef>  // first, as in daemon/asio.hpp, and for the same reason

#include <asio/impl/src.hpp>
