#pragma once

// A stage: which machines there are, what lies between them, and what happens to them, as values.
//
// stage_file reads one from TOML; what a recipe is worth on it is the runs' business. All rates are
// bytes a second, all times virtual.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/job/spec.hpp"

namespace p2p::sim {

struct Site {
    std::string name;
    double inside_bytes_per_second = 125e6;
    core::Duration inside_round_trip = std::chrono::milliseconds{1};
    double up_bytes_per_second = 12.5e6;  ///< shared by all that leaves the site
    double down_bytes_per_second = 12.5e6;
};

/// What lies between two sites, or inside one.
struct Between {
    core::Duration round_trip = std::chrono::milliseconds{1};
    core::Duration jitter{};  ///< uniform, added to the way there
    double loss_ratio = 0;
};

struct Place {
    std::size_t site = 0;
    double speed = 1;  ///< steps of a machine of speed 1 in the same time
};

enum class Mishap : std::uint8_t {
    kill,    ///< no goodbye; back after `lasts`, from its last checkpoint, in a new incarnation
    freeze,  ///< as SIGSTOP; back after `lasts`
    cut,     ///< the site's wires to the others break; mended after `lasts`
    clog,    ///< as cut, and nobody is told: bytes vanish, sockets stay open
    slow,    ///< the node's speed times `factor`, for `lasts`
    join     ///< the node is not there before `at`
};

/// Which way a clog holds bytes, seen from the site.
enum class Way : std::uint8_t { both, out, in };

/// Something that happens to a node or a site, once, or every `every` to another one drawn. One
/// that names a node or site which is not there (--nodes made the stage smaller) does not happen.
struct StageEvent {
    Mishap what = Mishap::kill;
    core::Duration at{};     ///< from the job's beginning
    core::Duration every{};  ///< zero: once
    core::Duration lasts = std::chrono::seconds{10};
    std::size_t target = drawn;  ///< a node, or a site of `cut` and `clog`
    double factor = 0.25;        ///< of `slow`
    Way way = Way::both;         ///< of `clog`

    static constexpr std::size_t drawn = static_cast<std::size_t>(-1);
};

/// What machines and wires are drawn from, where they are not told one by one (crowd.hpp).
struct Crowd {
    std::uint64_t seed = 1;
    std::size_t nodes = 100;
    std::size_t nodes_a_site = 5;                               ///< mean; drawn evenly from 1 on
    core::Duration round_trip = std::chrono::milliseconds{60};  ///< median between two sites
    double round_trip_spread = 0.6;                             ///< log-normal sigma
    double bytes_per_second_least = 1.25e6;                     ///< of a site's up- or downlink
    double bytes_per_second_most = 125e6;
    double speed_spread = 0.5;  ///< log-normal sigma around 1
    std::size_t links = 8;      ///< of each node, where --links asks for no others; 0: all
};

/// Seconds of one core for mixing's arithmetic; `p2psim calibrate` measures them.
struct Costs {
    double order_seconds = 50e-6;
    double encode_seconds_a_float = 1.5e-9;
    double decode_seconds_a_float = 1e-9;
    double apply_seconds_a_float = 0.5e-9;
    double evaluate_seconds = 0;  ///< of a copy of the model, beside everything else
};

/// What a stage was read from: with it a run can be made again where the files have changed.
struct StageText {
    std::string file;  ///< where it lay: for errors, and its name
    std::string stage;
    std::string job;

    bool operator==(const StageText&) const = default;
};

struct Stage {
    std::string name;
    std::string description;
    std::vector<Site> sites;
    std::vector<Place> nodes;
    std::vector<Between> wires;  ///< [sites, sites], symmetric
    std::vector<StageEvent> events;
    core::Duration step_time = std::chrono::milliseconds{10};  ///< of speed 1
    double step_jitter = 0.05;                                 ///< log-normal sigma
    double message_scale = 1;                               ///< every bulk byte counts this often
    core::Duration report_every = std::chrono::seconds{1};  ///< of each node, to the mesh
    core::JobSpec job;                                      ///< without recipe and axes
    std::optional<Crowd> crowd{};
    Costs costs{};
    StageText text;  ///< empty where no file was read

    [[nodiscard]] const Between& between(std::size_t a, std::size_t b) const {
        return wires[a * sites.size() + b];
    }

    /// Nodes that are there from the beginning.
    [[nodiscard]] std::size_t first_nodes() const;

    /// Steps a second of all machines together.
    [[nodiscard]] double steps_per_second() const;
};

/// More of the same crowd; else the stage's machines over and over, or the first of them, until
/// there are `nodes`.
void resize(Stage& stage, std::size_t nodes);

}  // namespace p2p::sim
