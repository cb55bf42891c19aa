#pragma once

// What a job asks of two values before they are mixed. How they are judged is core/mixing/guard;
// whether local steps lead towards a push is found where it is taken in.

namespace p2p::core {

struct GuardSpec {
    bool finite = true;
    double norm_ratio = 10;  ///< 0: not looked at
    double clip_ratio =
        0;  ///< distance over the smaller norm beyond which it counts as this; 0: none
    bool descent = false;  ///< pushes only: taken in only where local steps lead that way, too

    bool operator==(const GuardSpec&) const = default;
};

}  // namespace p2p::core
