#include "tools/sim/outcome.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace p2p::sim {

std::size_t look_stride(std::size_t nodes) {
    return (nodes + nodes_looked_at_max - 1) / nodes_looked_at_max;
}

double middle_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double memory_peak_megabytes() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

std::optional<CurvePoint> Outcome::reached(double accuracy) const {
    const auto found = std::find_if(curve.begin(), curve.end(), [&](const CurvePoint& point) {
        return point.accuracy_median >= accuracy;
    });
    if (found == curve.end()) return std::nullopt;
    return *found;
}

}  // namespace p2p::sim
