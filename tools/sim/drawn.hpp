#pragma once

// Stages that nobody chose: machines, wires and mishaps drawn from a seed, so that a way of mixing
// can be judged where it was not tuned.
//
// What is drawn is a stage file's text; reading it is stage_file's.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace p2p::sim {

/// The seed in "drawn-7001"; nothing where the name is another.
[[nodiscard]] std::optional<std::uint64_t> drawn_seed(std::string_view name);

[[nodiscard]] std::string drawn_name(std::uint64_t seed);

/// 4 to 24 machines in sites of 1 to 7, speeds within a spread of up to 1 (log-normal sigma); 10 to
/// 150 ms between sites; a 4-bit swap over the narrowest link takes 0.3 to 50 steps, and up to a
/// hundred times less over the widest; half of them with messages up to a hundred times as large;
/// of three, one with nodes that die and one with nodes that slow down.
[[nodiscard]] std::string drawn_stage_text(std::uint64_t seed);

}  // namespace p2p::sim
