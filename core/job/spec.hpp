#pragma once

// A job's specification: what is learned, from which data, how it is mixed, when it ends. Values,
// their defaults, and what makes sense; proto/spec reads and writes its text and canonical bytes.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/learning.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/base/types.hpp"

namespace p2p::core {

struct TrainSpec {
    double epochs = 0;               ///< over the set, by the whole mesh; or
    std::uint64_t samples = 0;       ///< samples of the whole mesh; or
    double minutes = 0;              ///< since a node's first step. Exactly one of them is set
    std::uint32_t batch_size = 64;   ///< a node; its own configuration may override it
    std::uint32_t round_steps = 16;  ///< H of recipes that have rounds

    bool operator==(const TrainSpec&) const = default;
};

struct MixingSpec {
    std::string recipe = "auto";  ///< a row of core/mixing/recipe
    std::map<std::string, std::string>
        axes;                     ///< axis -> value, over the recipe's ("codec" -> "q8")
    std::uint32_t min_peers = 1;  ///< nodes, this one included, before the first step
    Duration deadline = std::chrono::seconds{30};  ///< where a recipe waits
    double staleness_max = 0.02;     ///< share of the work missed before state is fetched
    double finish_tolerance = 1e-4;  ///< distance over norm at which an edge has settled
    Duration finish_deadline = std::chrono::minutes{10};

    bool operator==(const MixingSpec&) const = default;
};

struct EvalSpec {
    Duration every = std::chrono::seconds{30};  ///< zero: only at the end

    bool operator==(const EvalSpec&) const = default;
};

struct CheckpointSpec {
    Duration every = std::chrono::minutes{5};  ///< zero: only at the end
    std::uint32_t keep_last = 3;

    bool operator==(const CheckpointSpec&) const = default;
};

struct JobSpec {
    std::string name;  ///< [a-z0-9][a-z0-9._-]*, at most limits::name_bytes_max
    std::string description;
    std::uint64_t seed = 0;  ///< initial weights derive from it; all else from (seed, peer, ...)
    ModelSpec model;
    DataSpec data;
    TrainSpec train;
    OptimizerSpec optimizer;
    ScheduleSpec schedule;
    MixingSpec mixing;
    EvalSpec eval;
    CheckpointSpec checkpoint;

    bool operator==(const JobSpec&) const = default;
};

/// [a-z0-9][a-z0-9._-]*, at most limits::name_bytes_max: sound as a folder, too.
[[nodiscard]] bool is_job_name(std::string_view name);

/// The first thing that makes no sense, with the key's name and what would; names of recipes and
/// axes are not looked at here (core/mixing/recipe does).
[[nodiscard]] Status validate(const JobSpec& spec);

/// Whether the local steps of a recipe can be taken by a job of this model and optimizer; the
/// reason, and what to write instead, where not.
[[nodiscard]] Status check_local(const JobSpec& spec, const LocalSpec& local);

/// Samples of the whole mesh after which the job ends, for a set of `set_samples`; 0: ends by time.
[[nodiscard]] SampleCount samples_total(const JobSpec& spec, SampleCount set_samples);

}  // namespace p2p::core
