#include "core/mixing/weights.hpp"

#include <algorithm>

namespace p2p::core {

std::optional<float> offered_share(ShareRule rule, std::size_t links, float taken) {
    const auto count = static_cast<float>(std::max<std::size_t>(links, 1));
    const float left = budget_total - taken;
    switch (rule) {
        case ShareRule::one_partner:
            if (left < share_min) return std::nullopt;
            return std::min(0.5F, left);
        case ShareRule::all_links: {
            const float share = std::min(budget_total / count, left);
            return share < budget_total / (4 * count) ? std::nullopt : std::optional<float>(share);
        }
        case ShareRule::metropolis: {
            const float wanted = 1 / (1 + count);
            const float share = std::min(wanted, count / (1 + count) - taken);
            return share < wanted / 4 ? std::nullopt : std::optional<float>(share);
        }
        case ShareRule::unbounded: return 0.5F;
    }
    return std::nullopt;
}

}  // namespace p2p::core
