#include "tools/sim/curves.hpp"

#include <fstream>

#include "proto/json.hpp"

namespace p2p::sim {

std::string curve_lines(const Outcome& outcome) {
    std::string lines;
    for (const CurvePoint& point : outcome.curve) {
        const proto::Json json{
            {"schema", "p2psim.curve/1"},
            {"stage", outcome.stage},
            {"recipe", outcome.recipe},
            {"seed", outcome.seed},
            {"seconds", point.seconds},
            {"samples", point.samples},
            {"megabytes", point.megabytes},
            {"loss", point.loss_median},
            {"accuracy_ratio", point.accuracy_median},
            {"distance_ratio", point.distance_ratio}};
        lines += proto::json_text(json) + "\n";
    }
    return lines;
}

core::Status write_curves(const std::string& path, const std::vector<Outcome>& outcomes) {
    std::ofstream file(path, std::ios::trunc);
    for (const Outcome& outcome : outcomes)
        file << curve_lines(outcome);
    file.flush();
    if (file) return {};
    return core::Error{
        core::ErrorCode::unwritable,
        path,
        "the curves cannot be written there",
        "name a file in a folder that you may write to"};
}

}  // namespace p2p::sim
