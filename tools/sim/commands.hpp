#pragma once

// What p2psim does, command by command: each takes the options that were given, prints, and returns
// the exit code. Parsing the command line is main.cpp's; running, reading and drawing tables belong
// to the files of those names.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace p2p::sim {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

struct Options {
    std::string stage = "three-site-8";
    std::string recipe = "auto";
    std::string recipes;  ///< as given, by commas
    std::vector<std::string> axes;
    std::string format = "table";
    std::string data = "/usr/share/datasets/fashion-mnist";
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;
    double target = 0;
    double below = 0.005;  ///< what a free network reaches, of rank
    std::size_t stages = 20;
    std::uint64_t draw = 1;  ///< seed of the first stage
    double limit = 3600;
    std::size_t nodes = 0;
    std::size_t links = 0;
    std::size_t looks = 40;
    std::size_t jobs = 2;
    std::string depth = "messages";
    std::string curves;              ///< a file; empty: none
    std::string trace;               ///< a file; empty: none
    std::vector<std::string> names;  ///< of claims; none: all
    std::string folder;              ///< of claims; empty: tests/papers
    std::uint64_t claim_seeds = 0;   ///< 0: as many as the house wants
    bool is_small = false;
    std::string job;                     ///< a job file, of from-mesh
    std::vector<std::string> documents;  ///< files, of from-mesh
};

[[nodiscard]] int run_one(const Options& options);
[[nodiscard]] int replay(const Options& options);
[[nodiscard]] int compare(const Options& options);
[[nodiscard]] int rank(const Options& options);
[[nodiscard]] int claims(const Options& options);
[[nodiscard]] int show_recipes(const Options& options);
[[nodiscard]] int show_stages(const Options& options);
[[nodiscard]] int calibrate(const Options& options);
[[nodiscard]] int from_mesh(const Options& options);

}  // namespace p2p::sim
