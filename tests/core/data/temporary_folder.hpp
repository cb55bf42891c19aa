#pragma once

// A folder of a test's own, gone with its scope.
// Removed with all that it holds when the test is over.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/bytes.hpp"

namespace p2p::core {

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = testing::TempDir() + "p2ptrain-data-XXXXXX";
        EXPECT_NE(nullptr, ::mkdtemp(name.data()));
        path_ = name;
    }

    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] std::string path(const std::string& name = "") const {
        return path_ + "/" + name;
    }

    void write(const std::string& name, const Bytes& bytes) const {
        std::ofstream(path(name), std::ios::binary) << as_text(bytes);
    }

  private:
    std::string path_;
};

}  // namespace p2p::core
