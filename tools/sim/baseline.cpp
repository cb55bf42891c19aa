#include "tools/sim/baseline.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/nn/model.hpp"
#include "core/train/replica.hpp"
#include "tools/sim/batches.hpp"
#include "tools/sim/collectives.hpp"
#include "tools/sim/world.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::NativeReplica;
using core::Result;

namespace {

constexpr std::array<std::string_view, 5> names{
    "allreduce", "allreduce-site", "diloco-ring", "free", "none"};

/// What may be tuned, with what it is unless it is.
struct Knobs {
    double lr = 1;             ///< times the job's
    double round_seconds = 1;  ///< of local work between two averages
    double outer_lr = 0.7;
    double outer_momentum = 0.9;
    double wire_bits = 16;  ///< a parameter, of rounds
};

Result<Knobs> read_knobs(const RunRequest& request) {
    Knobs knobs;
    const std::array<std::pair<std::string_view, double*>, 5> known{{
        {"lr", &knobs.lr},
        {"round_seconds", &knobs.round_seconds},
        {"outer_lr", &knobs.outer_lr},
        {"outer_momentum", &knobs.outer_momentum},
        {"wire_bits", &knobs.wire_bits},
    }};
    for (const auto& [axis, text] : request.axes) {
        const auto found = std::find_if(
            known.begin(), known.end(), [&axis = axis](const auto& k) { return k.first == axis; });
        const auto* end = text.data() + text.size();
        double value = 0;
        if (found == known.end() || std::from_chars(text.data(), end, value).ptr != end
            || !(value > 0)) {
            return Error{
                ErrorCode::invalid,
                "--set " + axis + "=" + text,
                "the baseline " + request.recipe + " has no such knob, or it is no number above 0",
                "use lr, round_seconds, outer_lr, outer_momentum or wire_bits"};
        }
        *found->second = value;
    }
    return knobs;
}

double slowest_speed(const Stage& stage) {
    double speed = std::numeric_limits<double>::infinity();
    for (const Place& node : stage.nodes)
        speed = std::min(speed, node.speed);
    return speed;
}

/// The parts that all baselines share: data, schedule, looks.
class BaselineRun {
  public:
    BaselineRun(const RunRequest& request, const Knobs& knobs, const Progress& progress)
        : request_(request),
          knobs_(knobs),
          progress_(progress),
          spec_(request.stage.job),
          collectives_(request.stage, core::parameter_count(core::model_tensors(spec_.model))) {
        spec_.seed = request.seed;
        spec_.schedule.base_lr *= knobs.lr;
        total_ = static_cast<double>(
            core::samples_total(spec_, core::SampleCount{request.data->train.count()}).value);
        outcome_.recipe = request.recipe;
        outcome_.stage = request.stage.name;
        outcome_.seed = request.seed;
    }

    Outcome run() {
        const std::clock_t begun = std::clock();
        const double step = core::to_seconds(request_.stage.step_time);
        const auto n = static_cast<double>(request_.stage.nodes.size());
        const double speeds = request_.stage.steps_per_second() * step;
        if (request_.recipe == "free") {
            train_one({.batches = 1, .seconds = step / speeds}, step / speeds);
        } else if (request_.recipe == "allreduce") {
            train_one(
                {.batches = n,
                 .seconds = step / slowest_speed(request_.stage) + collectives_.flat_ring_seconds(),
                 .megabytes = collectives_.ring_megabytes(32),
                 .is_one_of_each = true},
                std::nullopt);
        } else if (request_.recipe == "allreduce-site") {
            train_one(
                {.batches = std::max(1.0, std::round(speeds)),
                 .seconds = step + collectives_.by_site_seconds(16),
                 .megabytes = collectives_.ring_megabytes(16)},
                step);
        } else {
            train_all();
        }
        for (NodeOutcome& node : outcome_.nodes)
            node.waiting_seconds = (1 - node.utilization) * seconds_;
        outcome_.is_finished = true;
        outcome_.wall_seconds =
            static_cast<double>(std::clock() - begun) / static_cast<double>(CLOCKS_PER_SEC);
        outcome_.memory_peak_megabytes = memory_peak_megabytes();
        return std::move(outcome_);
    }

  private:
    using Replicas = std::vector<std::unique_ptr<NativeReplica>>;

    /// What a step of a mesh in lockstep is.
    struct Lockstep {
        double batches = 1;  ///< the mesh learns from
        double seconds = 0;
        double megabytes = 0;         ///< a node
        bool is_one_of_each = false;  ///< batches; else by speed
    };

    [[nodiscard]] std::shared_ptr<const core::JobSpec> shared_spec() const {
        return std::make_shared<const core::JobSpec>(spec_);
    }

    /// One model. A node is at work for `busy_seconds` of each step; none: for what a batch takes.
    void train_one(const Lockstep& each, std::optional<double> busy_seconds) {
        Batches batches(request_.stage, spec_, *request_.data);
        spec_.train.batch_size =
            static_cast<std::uint32_t>(each.batches * static_cast<double>(spec_.train.batch_size));
        core::StepBuffers buffers(spec_.model, spec_.train.batch_size, level_);
        NativeReplica model(shared_spec(), {}, request_.data, level_);
        double next_look = 0;
        for (double at = 0; at < total_ && seconds_ < request_.limit_seconds;
             at = static_cast<double>(model.samples().value)) {
            if (at >= next_look) {
                look({model.parameters()}, at);
                next_look += total_ / static_cast<double>(request_.looks);
            }
            batches.draw(each.is_one_of_each, buffers.indices);
            model.step_on_batch(buffers, core::job_learning_rate(spec_, at / total_, 1));
            seconds_ += each.seconds;
            megabytes_ += each.megabytes;
        }
        look({model.parameters()}, static_cast<double>(model.samples().value));
        for (const Place& node : request_.stage.nodes) {
            const double batch = core::to_seconds(request_.stage.step_time) / node.speed;
            outcome_.nodes.push_back(final_look(model.parameters()));
            outcome_.nodes.back().utilization = busy_seconds.value_or(batch) / each.seconds;
        }
        outcome_.seconds = seconds_;
    }

    /// A model a node: rounds of local steps, and an average at the end of each or of the last.
    void train_all() {
        const bool has_rounds = request_.recipe == "diloco-ring";
        core::StepBuffers buffers(spec_.model, spec_.train.batch_size, level_);
        Replicas replicas;
        for (const core::PeerId id : machine_ids(spec_.seed, request_.stage.nodes.size())) {
            replicas.push_back(
                std::make_unique<NativeReplica>(shared_spec(), id, request_.data, level_));
        }
        std::vector<float> outer(
            replicas[0]->parameters().begin(), replicas[0]->parameters().end());
        std::vector<float> momentum(outer.size());
        double samples = 0;
        double next_look = 0;
        while (samples < total_ && seconds_ < request_.limit_seconds) {
            if (samples >= next_look) {
                look_at(replicas, samples);
                next_look += total_ / static_cast<double>(request_.looks);
            }
            const double round = std::min(knobs_.round_seconds, seconds_left(samples));
            samples = work_for(round, replicas, buffers, samples);
            if (has_rounds) average(replicas, outer, momentum);
        }
        if (!has_rounds) average_at_end(replicas);
        look_at(replicas, samples);
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            outcome_.nodes.push_back(final_look(replicas[i]->parameters()));
            outcome_.nodes.back().utilization = busy_[i] / seconds_;
        }
        outcome_.seconds = seconds_;
    }

    /// Until all machines together have seen the rest, without waiting.
    [[nodiscard]] double seconds_left(double samples) const {
        const double rate = request_.stage.steps_per_second() * spec_.train.batch_size;
        return std::max((total_ - samples) / rate, core::to_seconds(request_.stage.step_time));
    }

    double work_for(
        double seconds, Replicas& replicas, core::StepBuffers& buffers, double samples) {
        const double step = core::to_seconds(request_.stage.step_time);
        double longest = 0;
        const double ratio = samples / total_;
        for (std::size_t i = 0; i < replicas.size(); ++i) {
            const double own = step / request_.stage.nodes[i].speed;
            const auto count = static_cast<std::size_t>(std::max(1.0, std::floor(seconds / own)));
            const auto steps = static_cast<double>(count);
            for (std::size_t k = 0; k < count; ++k)
                replicas[i]->step(buffers, core::job_learning_rate(spec_, ratio, 1));
            longest = std::max(longest, steps * own);
            samples += steps * spec_.train.batch_size;
            work_.resize(replicas.size());
            busy_.resize(replicas.size());
            work_[i] = steps;
            busy_[i] += steps * own;
        }
        seconds_ += longest;
        return samples;
    }

    /// DiLoCo, Algorithm 1, lines 12 to 14; each node weighs what it did.
    void average(Replicas& replicas, std::vector<float>& outer, std::vector<float>& momentum) {
        double sum = 0;
        for (const double work : work_)
            sum += work;
        for (std::size_t j = 0; j < outer.size(); ++j) {
            double delta = 0;
            for (std::size_t i = 0; i < replicas.size(); ++i) {
                delta += work_[i] / sum * (double{outer[j]} - double{replicas[i]->parameters()[j]});
            }
            momentum[j] = static_cast<float>(knobs_.outer_momentum * double{momentum[j]} + delta);
            outer[j] -= static_cast<float>(
                knobs_.outer_lr * (delta + knobs_.outer_momentum * double{momentum[j]}));
        }
        for (auto& replica : replicas)
            std::copy(outer.begin(), outer.end(), replica->parameters().begin());
        seconds_ += collectives_.by_site_seconds(knobs_.wire_bits);
        megabytes_ += collectives_.ring_megabytes(knobs_.wire_bits);
    }

    void average_at_end(Replicas& replicas) {
        std::vector<float> mean(replicas[0]->parameters().size());
        for (const auto& replica : replicas) {
            const auto values = std::as_const(*replica).parameters();
            for (std::size_t j = 0; j < mean.size(); ++j)
                mean[j] += values[j] / static_cast<float>(replicas.size());
        }
        for (auto& replica : replicas)
            std::copy(mean.begin(), mean.end(), replica->parameters().begin());
        seconds_ += collectives_.by_site_seconds(32);
        megabytes_ += collectives_.ring_megabytes(32);
    }

    void look_at(const Replicas& replicas, double samples) {
        std::vector<core::FloatView> models;
        models.reserve(replicas.size());
        for (const auto& replica : replicas)
            models.push_back(std::as_const(*replica).parameters());
        look(models, samples);
    }

    void look(const std::vector<core::FloatView>& models, double samples) {
        CurvePoint point{
            .seconds = seconds_,
            .samples = samples,
            .megabytes = megabytes_,
            .loss_median = 0,
            .accuracy_median = 0,
            .distance_ratio = 0};
        std::vector<double> losses;
        std::vector<double> accuracies;
        const std::size_t stride = look_stride(models.size());
        for (std::size_t i = 0; i < models.size(); i += stride) {
            const auto sum = core::evaluate_parameters(
                spec_.model, *request_.data, level_, models[i], test_samples_a_look);
            losses.push_back(sum.loss());
            accuracies.push_back(sum.accuracy());
        }
        point.loss_median = middle_of(losses);
        point.accuracy_median = middle_of(accuracies);
        outcome_.curve.push_back(point);
        if (progress_) progress_(point, samples / total_);
    }

    [[nodiscard]] NodeOutcome final_look(core::FloatView model) const {
        const auto sum = core::evaluate_parameters(spec_.model, *request_.data, level_, model);
        NodeOutcome seen;
        seen.accuracy = sum.accuracy();
        seen.loss = sum.loss();
        seen.megabytes = megabytes_;
        return seen;
    }

    const RunRequest& request_;
    Knobs knobs_;
    const Progress& progress_;
    core::JobSpec spec_;
    Collectives collectives_;
    core::KernelLevel level_ = core::best_kernel_level();
    double total_ = 0;
    double seconds_ = 0;
    double megabytes_ = 0;
    std::vector<double> work_;  // steps of each node in this round
    std::vector<double> busy_;  // seconds in steps, of each node
    Outcome outcome_;
};

}  // namespace

bool is_baseline(const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> baseline_names() {
    return {names.begin(), names.end()};
}

Result<Outcome> run_baseline(const RunRequest& request, const Progress& progress) {
    const auto knobs = read_knobs(request);
    if (!knobs) return knobs.error();
    return BaselineRun(request, *knobs, progress).run();
}

}  // namespace p2p::sim
