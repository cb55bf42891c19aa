// The command `p2psim claims`: the claims of a folder put to the test, one after the other.
//
// A claim that does not hold is a finding, not a failure; the exit code is 1 where a run could not
// be made.

#include <cstdio>
#include <memory>
#include <utility>

#include "core/data/dataset.hpp"
#include "proto/json.hpp"
#include "tools/sim/claim_file.hpp"
#include "tools/sim/claim_run.hpp"
#include "tools/sim/claim_table.hpp"
#include "tools/sim/commands.hpp"
#include "tools/sim/say.hpp"

namespace p2p::sim {

namespace {

constexpr std::uint64_t seeds_whole = 5;

/// Those to run; of a small run, those that say how.
core::Result<std::vector<Claim>> chosen_claims(const Options& options) {
    auto claims = read_claims(options.folder, options.names);
    if (!claims || !options.is_small) return claims;
    std::vector<Claim> small;
    for (Claim& claim : *claims) {
        if (claim.has_small) {
            small.push_back(std::move(claim));
        } else if (!options.names.empty()) {
            return core::Error{
                core::ErrorCode::invalid,
                "--small " + claim.name,
                "its file has no [small] table",
                "run it without --small, which tunes, and put what that finds into [small]"};
        }
    }
    return small;
}

}  // namespace

int claims(const Options& options) {
    const auto chosen = chosen_claims(options);
    if (!chosen) return tell(chosen.error(), exit_usage);
    auto data = core::load_dataset(options.data);
    if (!data) return tell(data.error(), exit_usage);
    Trial trial;
    trial.data = std::make_shared<const core::Dataset>(*std::move(data));
    trial.jobs = options.jobs;
    trial.is_small = options.is_small;
    std::vector<Verdict> verdicts;
    int code = 0;
    for (const Claim& claim : *chosen) {
        trial.seeds = options.is_small ? claim.seeds_small : seeds_whole;
        if (options.claim_seeds > 0) trial.seeds = options.claim_seeds;
        const auto on_run = [&](const std::string& text) {
            say(claim.name + ": " + text);
        };
        verdicts.push_back(put_to_test(claim, trial, on_run));
        if (!verdicts.back().trouble.empty()) code = exit_failed;
    }
    const std::string text = options.format == "json"
                                 ? proto::json_text(claims_json(verdicts)) + "\n"
                                 : claims_table(verdicts);
    std::fputs(text.c_str(), stdout);
    return code;
}

}  // namespace p2p::sim
