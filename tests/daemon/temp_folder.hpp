#pragma once

// A folder of its own for one test, gone afterwards; and small things that tests of files need.
// Header only, so that each test program can use it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/check.hpp"

namespace p2p::daemon {

class TempFolder {
  public:
    TempFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "p2p-XXXXXX").string();
        P2P_CHECK(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }

    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

inline void put_text(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

inline std::string get_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

/// Changes one bit in the middle of a file.
inline void flip_bit(const std::filesystem::path& file) {
    std::string text = get_text(file);
    P2P_CHECK(!text.empty());
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    put_text(file, text);
}

}  // namespace p2p::daemon
