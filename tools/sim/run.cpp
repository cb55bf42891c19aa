#include "tools/sim/run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include "core/codec/codec.hpp"
#include "core/codec/hash.hpp"
#include "core/mixing/recipe.hpp"
#include "core/nn/model.hpp"
#include "core/node/job_layout.hpp"
#include "tools/sim/baseline.hpp"

namespace p2p::sim {

using core::Duration;
using core::Error;
using core::JobState;
using core::Result;

namespace {

constexpr Duration links_come_up = std::chrono::seconds{5};  // before the job; not counted

/// The stage's events count from the job's beginning.
Stage with_events_after(Stage stage, Duration delay) {
    for (StageEvent& event : stage.events)
        event.at += delay;
    return stage;
}

/// One recipe in a World.
class MeshRun {
  public:
    MeshRun(
        const RunRequest& request,
        core::JobSpec spec,
        core::Recipe recipe,
        const OnDigest& on_point)
        : request_(request),
          spec_(std::move(spec)),
          recipe_(std::move(recipe)),
          classroom_(spec_, request.data, core::best_kernel_level()),
          world_(
              {.stage = with_events_after(request.stage, links_come_up),
               .seed = request.seed,
               .make_trainer =
                   [this](const core::StartTraining& order, core::PeerId self, std::size_t) {
                       return make_learner(order.spec, self, classroom_, order.local);
                   },
               .costs = request.stage.costs,
               .on_digest = on_point,
               .as_bytes = request.as_bytes,
               .links_a_node = request.links_a_node}) {}

    Outcome run(const Progress& progress) {
        const std::clock_t begun = std::clock();
        Outcome outcome;
        outcome.recipe = request_.recipe;
        outcome.stage = request_.stage.name;
        outcome.seed = request_.seed;
        outcome.rho = rho();
        world_.run_for(links_come_up);
        start_ = world_.time();
        world_.submit(0, spec_);

        const double samples = static_cast<double>(
            core::samples_total(spec_, core::SampleCount{request_.data->train.count()}).value);
        const double expected =
            samples / spec_.train.batch_size / std::max(request_.stage.steps_per_second(), 1e-9);
        const Duration look = core::from_seconds(expected / static_cast<double>(request_.looks));
        const auto is_done = [&] {
            const bool is_over = world_.all_in(JobState::done);
            if (is_over || is_look_due(outcome.curve, samples)) {
                outcome.curve.push_back(look_at_mesh());
                if (progress)
                    progress(outcome.curve.back(), outcome.curve.back().samples / samples);
            }
            return is_over;
        };
        outcome.is_finished =
            world_.run_until(is_done, core::from_seconds(request_.limit_seconds), look);
        outcome.seconds = since_start();
        if (!outcome.is_finished) outcome.trouble = trouble();
        for (std::size_t i = 0; i < world_.size(); ++i)
            if (world_.is_alive(i)) outcome.nodes.push_back(look_at_node(i));
        if (outcome.is_finished && recipe_.finish == core::Finish::exact && evaluated_.size() > 1) {
            outcome.is_finished = false;
            outcome.trouble = "the nodes ended with " + std::to_string(evaluated_.size())
                              + " models, and the job is to end with one";
        }
        outcome.digest = world_.digest();
        outcome.events = world_.events_run();
        outcome.wall_seconds =
            static_cast<double>(std::clock() - begun) / static_cast<double>(CLOCKS_PER_SEC);
        outcome.memory_peak_megabytes = memory_peak_megabytes();
        return outcome;
    }

  private:
    [[nodiscard]] double since_start() const { return core::to_seconds(world_.time() - start_); }

    [[nodiscard]] std::string trouble() const {
        if (const auto& fault = world_.audit().fault()) return *fault;
        return "not done after " + std::to_string(request_.limit_seconds) + " virtual seconds\n"
               + world_.describe();
    }

    /// Of the median pair of nodes, for the recipe's codec.
    [[nodiscard]] double rho() const {
        const auto floats = core::parameter_count(core::model_tensors(spec_.model));
        const double bytes =
            static_cast<double>(core::encoded_bytes(recipe_.codec, floats, /*keyframe=*/false))
            * request_.stage.message_scale;
        std::vector<double> seconds;
        for (std::size_t a = 0; a < world_.size(); ++a) {
            for (std::size_t b = 0; b < a && seconds.size() < 10'000; ++b) {
                seconds.push_back(
                    world_.network().seconds_alone(a, b, bytes)
                    + core::to_seconds(world_.network().round_trip(a, b)) / 2);
            }
        }
        return middle_of(seconds) / core::to_seconds(request_.stage.step_time);
    }

    /// A look costs evaluations: one for each share of the work, or as time goes on without any.
    [[nodiscard]] bool is_look_due(const std::vector<CurvePoint>& curve, double samples) {
        if (curve.empty()) return true;
        const double share = samples / static_cast<double>(request_.looks);
        return since_start() > 1.1 * curve.back().seconds
               || samples_of_mesh() >= curve.back().samples + share / 2;
    }

    double samples_of_mesh() {
        double samples = 0;
        for (std::size_t i = 0; i < world_.size(); ++i) {
            if (Trainer* trainer = world_.trainer(i))
                samples += static_cast<double>(trainer->samples().value);
        }
        return samples;
    }

    CurvePoint look_at_mesh() {
        CurvePoint point;
        point.seconds = since_start();
        point.samples = samples_of_mesh();
        std::vector<double> losses;
        std::vector<double> accuracies;
        double distances = 0;
        const std::size_t stride = look_stride(world_.size());
        for (std::size_t i = 0; i < world_.size(); ++i) {
            point.megabytes += world_.network().bytes_sent(i) / 1e6;
            Trainer* trainer = world_.trainer(i);
            if (trainer == nullptr) continue;
            if (i % stride != 0) continue;
            const auto seen = trainer->evaluate(test_samples_a_look);
            losses.push_back(seen.loss);
            accuracies.push_back(seen.accuracy);
            distances += world_.job(i).own.distance_ratio;
        }
        point.megabytes /= static_cast<double>(world_.size());
        point.loss_median = middle_of(losses);
        point.accuracy_median = middle_of(accuracies);
        if (!losses.empty()) point.distance_ratio = distances / static_cast<double>(losses.size());
        return point;
    }

    /// On the whole test set. Most nodes end with one model, which is evaluated once.
    core::Evaluated evaluate_once(Trainer& trainer) {
        const core::FloatView floats = trainer.parameters();
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(floats.data());
        const core::Hash128 hash = core::hash128({}, {bytes, floats.size_bytes()});
        const auto [found, is_new] = evaluated_.try_emplace({hash.low, hash.high});
        if (is_new) found->second = trainer.evaluate(static_cast<std::size_t>(-1));
        return found->second;
    }

    NodeOutcome look_at_node(std::size_t node) {
        NodeOutcome seen;
        seen.megabytes = world_.network().bytes_sent(node) / 1e6;
        Trainer* trainer = world_.trainer(node);
        if (trainer == nullptr) return seen;
        const core::Evaluated all = evaluate_once(*trainer);
        seen.accuracy = all.accuracy;
        seen.loss = all.loss;
        seen.samples = static_cast<double>(trainer->samples().value);
        const auto job = world_.job(node);
        seen.utilization = job.own.utilization;
        seen.waiting_seconds = core::to_seconds(world_.waited(node));
        seen.swaps = job.own.swaps;
        return seen;
    }

    const RunRequest& request_;
    core::JobSpec spec_;
    core::Recipe recipe_;
    Classroom classroom_;
    World world_;
    core::TimePoint start_{};
    std::map<std::pair<std::uint64_t, std::uint64_t>, core::Evaluated> evaluated_;  // by hash
};

/// "lr", which every way of mixing may be tuned by, is no axis: it multiplies the job's rate.
core::Status take_rate(core::JobSpec& spec) {
    const auto found = spec.mixing.axes.find("lr");
    if (found == spec.mixing.axes.end()) return {};
    const std::string text = found->second;
    double factor = 0;
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, factor).ptr != end || !(factor > 0)) {
        return Error{
            core::ErrorCode::invalid,
            "--set lr=" + text,
            "it is no number above 0",
            "it multiplies the job's learning rate: lr=2"};
    }
    spec.schedule.base_lr *= factor;
    spec.mixing.axes.erase(found);
    return {};
}

Result<Outcome> run_named(
    const RunRequest& request, const Progress& progress, const OnDigest& on_point) {
    if (auto status = core::validate(request.stage.job); !status) return status.error();
    if (auto status = core::check_fit(request.stage.job.model, *request.data); !status) {
        return status.error();
    }
    if (is_baseline(request.recipe)) return run_baseline(request, progress);
    const auto names = runnable_recipes();
    if (std::find(names.begin(), names.end(), request.recipe) == names.end()) {
        return Error{
            core::ErrorCode::invalid,
            "there is no recipe " + request.recipe,
            "neither one of the node's nor a baseline",
            "see p2psim recipes"};
    }
    core::JobSpec spec = request.stage.job;
    spec.seed = request.seed;
    spec.mixing.recipe = request.recipe;
    spec.mixing.axes = request.axes;
    if (auto status = take_rate(spec); !status) return status.error();
    spec.mixing.min_peers = static_cast<std::uint32_t>(request.stage.first_nodes());
    spec.eval.every = {};
    if (request.links_a_node > 0) {
        const auto reach = static_cast<std::uint32_t>(request.links_a_node);
        spec.mixing.min_peers = std::min(spec.mixing.min_peers, reach / 2 + 1);
    }
    auto recipe = core::resolve_recipe(request.recipe, spec.mixing.axes, spec.train.round_steps);
    if (!recipe) return recipe.error();
    if (auto status = core::validate(spec); !status) return status.error();
    if (auto status = core::check_local(spec, recipe->local); !status) return status.error();
    if (auto status = core::check_layers(spec, *recipe); !status) return status.error();
    return MeshRun(request, std::move(spec), *std::move(recipe), on_point).run(progress);
}

}  // namespace

std::vector<std::string> runnable_recipes() {
    std::vector<std::string> names = core::recipe_names();
    for (const std::string& name : baseline_names())
        names.push_back(name);
    return names;
}

Result<Outcome> run(const RunRequest& request, const Progress& progress, const OnDigest& on_point) {
    auto outcome = run_named(request, progress, on_point);
    if (outcome && !request.label.empty()) outcome->recipe = request.label;
    return outcome;
}

}  // namespace p2p::sim
