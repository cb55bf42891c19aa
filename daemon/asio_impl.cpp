// Asio's own functions, compiled once (ASIO_SEPARATE_COMPILATION) instead of in each file that
// includes it; apart from the daemon's library, since GCC sees null dereferences in them.

#include <asio.hpp>
#include <asio/impl/src.hpp>
