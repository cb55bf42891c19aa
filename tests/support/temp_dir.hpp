#pragma once

// A folder of a test's own, gone with the object, so that tests neither meet nor leave anything.
// Its path is short enough for unix sockets.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/check.hpp"

namespace p2p::tests {

class TempDir {
  public:
    TempDir() {
        std::string pattern = (std::filesystem::temp_directory_path() / "p2p-XXXXXX").string();
        P2P_CHECK(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }

    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace p2p::tests
