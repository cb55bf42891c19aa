#pragma once

// What p2psim says on stderr: progress, and errors with their reason and what to do next. Tables
// and documents go to stdout and are the commands' business.

#include <string>

#include "core/base/error.hpp"

namespace p2p::sim {

/// A line.
void say(const std::string& text);

/// What, why and next; gives `code` back.
int tell(const core::Error& error, int code);

}  // namespace p2p::sim
