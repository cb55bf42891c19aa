#include "tools/sim/drawn.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/rng.hpp"

namespace p2p::sim {

using core::Rng;

namespace {

constexpr std::string_view prefix = "drawn-";
constexpr std::uint64_t seed_max = 1'000'000'000;
constexpr double step_seconds = 0.01;
constexpr double swap_megabits = 0.41;  // of the job's model at 4 bits a parameter
constexpr double rho_least = 0.3;       // of a swap over the narrowest link
constexpr double rho_most = 50;
constexpr std::uint64_t stream_drawn = 0x647261776e;

/// Each factor between the two as likely as the others.
double draw_factor(Rng& rng, double least, double most) {
    return least * std::pow(most / least, rng.uniform());
}

std::string line(const char* key, double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%s = %.3g\n", key, value);
    return text;
}

std::string time_line(const char* key, double milliseconds) {
    char text[64];
    std::snprintf(text, sizeof text, "%s = \"%.0fms\"\n", key, milliseconds);
    return text;
}

std::string draw_mishaps(Rng& rng) {
    const std::uint64_t kind = rng.below(3);
    if (kind == 0) return {};
    std::string text = kind == 1 ? "[[event]]\nwhat = \"kill\"\n" : "[[event]]\nwhat = \"slow\"\n";
    text += time_line("at", 2000);
    text += time_line("every", draw_factor(rng, 5e3, 40e3));
    text += time_line("lasts", draw_factor(rng, 2e3, 20e3));
    if (kind == 2) text += line("factor", draw_factor(rng, 0.05, 0.5));
    return text;
}

}  // namespace

std::optional<std::uint64_t> drawn_seed(std::string_view name) {
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), seed);
    const bool is_number = error == std::errc{} && end == name.data() + name.size();
    if (!is_number || seed > seed_max) return std::nullopt;
    return seed;
}

std::string drawn_name(std::uint64_t seed) {
    return std::string(prefix) + std::to_string(seed);
}

std::string drawn_stage_text(std::uint64_t seed) {
    Rng rng = Rng(seed).split(stream_drawn);
    const double scale = rng.below(2) == 0 ? 1 : draw_factor(rng, 1, 100);
    std::string text = "schema = \"p2psim.stage/1\"\n[stage]\ndescription = \"drawn from seed "
                       + std::to_string(seed) + "\"\njob = \"fashion.job.toml\"\nstep = \"10ms\"\n";
    text += line("message_scale", scale);
    text += "[crowd]\nseed = " + std::to_string(seed) + "\nlinks = 0\n";
    text += line("nodes", std::round(draw_factor(rng, 4, 24)));
    text += line("nodes_a_site", static_cast<double>(1 + rng.below(4)));
    text += time_line("round_trip", draw_factor(rng, 10, 150));
    text += line("round_trip_spread", rng.uniform());
    const double swap_seconds = step_seconds * draw_factor(rng, rho_least, rho_most);
    const double least = scale * swap_megabits / swap_seconds;
    text += line("megabits_least", least);
    text += line("megabits_most", least * draw_factor(rng, 1, 100));
    text += line("speed_spread", rng.uniform());
    return text + draw_mishaps(rng);
}

}  // namespace p2p::sim
