#include "tools/sim/claim_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/job/spec.hpp"
#include "core/mixing/recipe.hpp"
#include "proto/json.hpp"
#include "tools/sim/table.hpp"

namespace p2p::sim {

using proto::Json;

namespace {

std::string number(double value, int decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// Ratios and points in hundredths, losses finer.
std::string figure(Measure measure, double value) {
    const bool is_loss = measure == Measure::loss || measure == Measure::loss_at_bytes;
    return number(value, is_loss ? 4 : 2);
}

std::string fidelity_of(const std::string& recipe) {
    const auto rows = core::recipe_rows(core::TrainSpec{}.round_steps);
    const auto found = std::find_if(
        rows.begin(), rows.end(), [&](const auto& row) { return row.recipe.name == recipe; });
    if (found == rows.end()) return "baseline";
    return std::string(core::fidelity_name(found->fidelity));
}

std::string verdict_word(const Verdict& verdict) {
    if (!verdict.trouble.empty()) return "trouble";
    if (verdict.control.holds) return "no measure";
    return verdict.holds() ? "yes" : "no";
}

std::string expectation(const Verdict& verdict) {
    if (verdict.is_as_expected()) return "";
    return verdict.holds() ? "it holds, though it was not expected to"
                           : "it does not hold, though it was expected to";
}

/// What stands below the table of one of them.
std::vector<std::string> remarks(const Verdict& verdict) {
    std::vector<std::string> lines = verdict.notes;
    if (!verdict.trouble.empty()) lines.insert(lines.begin(), verdict.trouble);
    if (verdict.trouble.empty()) {
        lines.push_back(
            "compared " + verdict.claim.recipe.recipe + " with "
            + settings_text(verdict.recipe_settings) + " and " + verdict.claim.baseline.recipe
            + " with " + settings_text(verdict.baseline_settings));
    }
    if (verdict.trouble.empty() && !expectation(verdict).empty()) {
        lines.push_back(expectation(verdict));
    }
    return lines;
}

Json finite_or_null(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json finding_json(const Finding& finding) {
    return {
        {"value", finite_or_null(finding.value)},
        {"interval", {finite_or_null(finding.low), finite_or_null(finding.high)}},
        {"recipe_short", finding.recipe_short},
        {"baseline_short", finding.baseline_short},
        {"holds", finding.holds}};
}

Json verdict_json(const Verdict& verdict) {
    const Claim& claim = verdict.claim;
    Json json = finding_json(verdict.finding);
    json["claim"] = claim.name;
    json["sentence"] = claim.sentence;
    json["source"] = claim.source;
    json["recipe"] = claim.recipe.recipe;
    json["fidelity"] = fidelity_of(claim.recipe.recipe);
    json["baseline"] = claim.baseline.recipe;
    json["stage"] = claim.stage;
    json["measure"] = measure_name(claim.measure);
    json["bound"] = claim.bound;
    json["holds"] = verdict.holds();
    json["control_fails"] = verdict.trouble.empty() && !verdict.control.holds;
    json["control"] = finding_json(verdict.control);
    json["expected"] = verdict.is_small ? claim.is_expected_small : claim.is_expected;
    json["as_expected"] = verdict.is_as_expected();
    json["why"] = claim.why;
    json["seeds"] = verdict.seeds;
    json["small"] = verdict.is_small;
    json["target_loss"] = claim.target ? finite_or_null(verdict.target_loss) : Json(nullptr);
    json["recipe_settings"] = settings_text(verdict.recipe_settings);
    json["baseline_settings"] = settings_text(verdict.baseline_settings);
    json["control_settings"] = settings_text(verdict.control_settings);
    json["seconds"] = verdict.seconds;
    json["notes"] = verdict.notes;
    json["trouble"] = verdict.trouble;
    return json;
}

}  // namespace

std::string claims_table(const std::vector<Verdict>& verdicts) {
    std::vector<std::vector<std::string>> rows{
        {"CLAIM",
         "FIDELITY",
         "AGAINST",
         "MEASURE",
         "VALUE",
         "INTERVAL",
         "BOUND",
         "HOLDS",
         "CONTROL",
         "SEC"}};
    std::string below;
    for (const Verdict& verdict : verdicts) {
        const Claim& claim = verdict.claim;
        const Finding& finding = verdict.finding;
        const auto shown = [&](double value) {
            return verdict.trouble.empty() ? figure(claim.measure, value) : std::string("-");
        };
        rows.push_back(
            {claim.name,
             fidelity_of(claim.recipe.recipe),
             claim.baseline.recipe,
             measure_name(claim.measure),
             shown(finding.value),
             shown(finding.low) + " to " + shown(finding.high),
             figure(claim.measure, claim.bound),
             verdict_word(verdict),
             !verdict.trouble.empty() ? "-"
             : verdict.control.holds  ? "passes"
                                      : "fails",
             number(verdict.seconds, 0)});
        for (const std::string& line : remarks(verdict))
            below += claim.name + ": " + line + "\n";
    }
    return lined_up(rows) + "\n" + below;
}

Json claims_json(const std::vector<Verdict>& verdicts) {
    Json list = Json::array();
    for (const Verdict& verdict : verdicts)
        list.push_back(verdict_json(verdict));
    return {{"schema", "p2psim.claims/1"}, {"claims", std::move(list)}};
}

}  // namespace p2p::sim
