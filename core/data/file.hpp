#pragma once

// The only file of core that opens files: reads one whole, bounded, and says where it lies.
//
// Read and not mapped: a data file that somebody shortens under a mapping would end the process.

#include <cstddef>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"

namespace p2p::core {

/// `path` from the root of the file system, for messages that are read elsewhere.
[[nodiscard]] std::string absolute_path(const std::string& path);

[[nodiscard]] bool is_regular_file(const std::string& path);

[[nodiscard]] bool is_folder(const std::string& path);

/// All bytes of a regular file.
///
/// `not_found`, `unreadable` (also for a pipe, a device or a folder, and for a file that became
/// shorter meanwhile) or `too_large`, before anything is allocated for it.
[[nodiscard]] Result<Bytes> read_file(const std::string& path, std::size_t bytes_max);

}  // namespace p2p::core
