#include "tools/sim/claim_run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "tools/sim/parallel.hpp"
#include "tools/sim/stage_file.hpp"

namespace p2p::sim {

using core::Result;

namespace {

constexpr double virtual_seconds_max = 2000;
constexpr std::size_t looks_of_end = 4;
constexpr std::size_t looks_of_curve = 32;
constexpr const char* control_name = "none";
constexpr const char* free_name = "free";

/// Shortest text that reads back as the number.
std::string rate_text(double rate) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), rate).ptr;
    return {text.data(), end};
}

/// One way of mixing with its settings.
struct Candidate {
    std::string recipe;
    Settings settings;
};

std::vector<Candidate> candidates_of(const ClaimSide& side) {
    std::vector<Candidate> candidates;
    for (const Settings& constants : side.tries) {
        for (const double rate : side.rates) {
            auto settings = joined(joined(side.axes, constants), {{"lr", rate_text(rate)}});
            candidates.push_back({side.recipe, std::move(settings)});
        }
    }
    return candidates;
}

std::vector<Candidate> control_candidates(const Claim& claim) {
    std::vector<Candidate> candidates;
    for (const double rate : claim.recipe.rates)
        candidates.push_back({control_name, {{"lr", rate_text(rate)}}});
    return candidates;
}

/// The runs of one claim.
class ClaimTest {
  public:
    ClaimTest(const Claim& claim, const Trial& trial, const OnRun& on_run, Stage stage)
        : claim_(claim),
          trial_(trial),
          on_run_(on_run) {
        request_.stage = std::move(stage);
        request_.data = trial.data;
        request_.limit_seconds = virtual_seconds_max;
        request_.links_a_node = claim.links;
        const bool is_of_end = claim.measure == Measure::loss || claim.measure == Measure::accuracy;
        request_.looks = is_of_end ? looks_of_end : looks_of_curve;
        yardstick_.loss_most = std::log(static_cast<double>(trial.data->classes));
        verdict_.claim = claim;
        verdict_.seeds = trial.seeds;
        verdict_.is_small = trial.is_small;
    }

    Verdict run() {
        auto status = trial_.is_small ? take_small() : tune();
        if (status) status = compare();
        if (!status) verdict_.trouble = status.error().text();
        return std::move(verdict_);
    }

  private:
    [[nodiscard]] RunRequest request_for(const Candidate& candidate, std::uint64_t seed) const {
        RunRequest request = request_;
        request.recipe = candidate.recipe;
        request.axes = candidate.settings;
        request.label = candidate.recipe;
        if (!candidate.settings.empty()) request.label += ":" + settings_text(candidate.settings);
        request.seed = seed;
        return request;
    }

    Result<std::vector<Outcome>> run_all(const std::vector<RunRequest>& requests) {
        auto outcomes = run_each(requests, trial_.jobs, [&](const RunReport& report) {
            if (report.outcome) verdict_.seconds += report.outcome->wall_seconds;
            on_run_(
                std::to_string(report.done) + " of " + std::to_string(requests.size()) + " done: "
                + report.request->label + ", seed " + std::to_string(report.request->seed));
        });
        return outcomes;
    }

    [[nodiscard]] bool wants_free() const { return claim_.target && claim_.target->is_over_free; }

    core::Status take_small() {
        chosen_.recipe = {claim_.recipe.recipe, joined(claim_.recipe.axes, claim_.recipe.small)};
        chosen_.baseline = {
            claim_.baseline.recipe, joined(claim_.baseline.axes, claim_.baseline.small)};
        chosen_.control = {control_name, {}};
        const auto rate = claim_.recipe.small.find("lr");
        if (rate != claim_.recipe.small.end()) chosen_.control.settings.insert(*rate);
        return {};
    }

    /// All candidates of all three on the seed of tuning.
    core::Status tune() {
        const std::array<std::vector<Candidate>, 3> sides{
            candidates_of(claim_.recipe),
            candidates_of(claim_.baseline),
            control_candidates(claim_)};
        std::vector<RunRequest> requests;
        for (const auto& side : sides) {
            for (const Candidate& candidate : side)
                requests.push_back(request_for(candidate, tuning_seed));
        }
        if (wants_free()) requests.push_back(request_for({free_name, {}}, tuning_seed));
        const auto outcomes = run_all(requests);
        if (!outcomes) return outcomes.error();
        set_target({outcomes->back()});
        yardstick_.megabytes = {thriftiest(*outcomes, sides[0].size() + sides[1].size())};
        const std::array<Candidate*, 3> chosen{
            &chosen_.recipe, &chosen_.baseline, &chosen_.control};
        std::size_t first = 0;
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const std::size_t found = best(*outcomes, first, sides[i].size());
            *chosen[i] = sides[i][found];
            if (i < 2) note_edge(i == 0 ? claim_.recipe : claim_.baseline, found);
            first += sides[i].size();
        }
        return {};
    }

    /// The fewest megabytes that one of the first `count` has sent in all.
    static double thriftiest(const std::vector<Outcome>& outcomes, std::size_t count) {
        const std::vector<Outcome> compared(
            outcomes.begin(), outcomes.begin() + static_cast<std::ptrdiff_t>(count));
        const auto sent = megabytes_of_both(compared, compared);
        return *std::min_element(sent.begin(), sent.end());
    }

    /// Where none of them reaches the target, the one whose loss is least.
    [[nodiscard]] std::size_t best(
        const std::vector<Outcome>& outcomes, std::size_t first, std::size_t count) const {
        const auto rank = [&](std::size_t i) {
            const Outcome& outcome = outcomes[first + i];
            return std::pair{
                score(claim_.measure, outcome, yardstick_, 0),
                loss_at_end(outcome, yardstick_.loss_most)};
        };
        std::size_t found = 0;
        for (std::size_t i = 1; i < count; ++i)
            if (rank(i) < rank(found)) found = i;
        return found;
    }

    void note_edge(const ClaimSide& side, std::size_t found) {
        const std::size_t rate = found % side.rates.size();
        if (rate != 0 && rate + 1 != side.rates.size()) return;
        verdict_.notes.push_back(
            "the best rate of " + side.recipe + ", " + rate_text(side.rates[rate])
            + ", is the last of those tried");
    }

    /// `free`: outcomes of the free network, where the target is relative to it.
    void set_target(const std::vector<Outcome>& free) {
        if (!claim_.target) return;
        yardstick_.target_loss = claim_.target->loss;
        if (wants_free()) {
            for (const Outcome& outcome : free) {
                yardstick_.target_loss +=
                    loss_at_end(outcome, yardstick_.loss_most) / static_cast<double>(free.size());
            }
        }
        verdict_.target_loss = yardstick_.target_loss;
    }

    core::Status compare() {
        std::vector<Candidate> compared{chosen_.recipe, chosen_.baseline, chosen_.control};
        if (wants_free()) compared.push_back({free_name, {}});
        std::vector<RunRequest> requests;
        for (const Candidate& candidate : compared) {
            for (std::uint64_t seed = 1; seed <= trial_.seeds; ++seed)
                requests.push_back(request_for(candidate, seed));
        }
        const auto outcomes = run_all(requests);
        if (!outcomes) return outcomes.error();
        const auto of = [&](std::size_t which) {
            const auto begin =
                outcomes->begin() + static_cast<std::ptrdiff_t>(which * trial_.seeds);
            return std::vector<Outcome>(begin, begin + static_cast<std::ptrdiff_t>(trial_.seeds));
        };
        set_target(of(compared.size() - 1));
        yardstick_.megabytes = megabytes_of_both(of(0), of(1));
        verdict_.finding = compare_runs(claim_, of(0), of(1), yardstick_);
        verdict_.control = compare_runs(claim_, of(2), of(1), yardstick_);
        verdict_.recipe_settings = chosen_.recipe.settings;
        verdict_.baseline_settings = chosen_.baseline.settings;
        verdict_.control_settings = chosen_.control.settings;
        note_short(chosen_.recipe.recipe, verdict_.finding.recipe_short);
        note_short(chosen_.baseline.recipe, verdict_.finding.baseline_short);
        return {};
    }

    void note_short(const std::string& recipe, std::size_t count) {
        if (count == 0) return;
        const std::string runs =
            std::to_string(count) + " of " + std::to_string(trial_.seeds) + " runs of " + recipe;
        verdict_.notes.push_back(
            has_target(claim_.measure)
                ? runs + " did not reach the target: counted as all that they took"
                : runs + " did not end in time");
    }

    struct Chosen {
        Candidate recipe;
        Candidate baseline;
        Candidate control;
    };

    const Claim& claim_;
    const Trial& trial_;
    const OnRun& on_run_;
    RunRequest request_;  // without recipe and seed
    Yardstick yardstick_;
    Chosen chosen_;
    Verdict verdict_;
};

}  // namespace

Verdict put_to_test(const Claim& claim, const Trial& trial, const OnRun& on_run) {
    auto stage = read_stage(claim.stage);
    if (stage) return ClaimTest(claim, trial, on_run, *std::move(stage)).run();
    Verdict verdict;
    verdict.claim = claim;
    verdict.is_small = trial.is_small;
    verdict.trouble = stage.error().text();
    return verdict;
}

}  // namespace p2p::sim
