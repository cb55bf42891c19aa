#include "tools/sim/say.hpp"

#include <cstdio>

namespace p2p::sim {

void say(const std::string& text) {
    std::fputs((text + "\n").c_str(), stderr);
}

int tell(const core::Error& error, int code) {
    say("p2psim: " + error.what);
    if (!error.why.empty()) say("  why:  " + error.why);
    if (!error.next.empty()) say("  next: " + error.next);
    return code;
}

}  // namespace p2p::sim
