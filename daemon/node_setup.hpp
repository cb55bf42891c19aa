#pragma once

// What a Node is told at birth, out of options, trust files and run directories; and what Links and
// the workshop are told. Read again, whole, on SIGHUP and after init.

#include "core/base/result.hpp"
#include "core/node/config.hpp"
#include "daemon/links.hpp"
#include "daemon/options.hpp"
#include "daemon/workshop.hpp"

namespace p2p::daemon {

/// What only the running process knows.
struct ProcessFacts {
    core::PeerId self;
    core::Incarnation incarnation;
    std::vector<HostPort> listening;
};

/// Without the resumed jobs. Errors: those of the allow-list and of the network's id.
[[nodiscard]] core::Result<core::NodeConfig> node_config(
    const Options& options, const ProcessFacts& facts);

/// @pre `node` was made by node_config
[[nodiscard]] LinksConfig links_config(const Options& options, const core::NodeConfig& node);

[[nodiscard]] WorkshopConfig workshop_config(const Options& options, core::PeerId self);

/// "host:port" texts of the configuration; they were checked when it was read.
[[nodiscard]] std::vector<HostPort> listen_addresses(const Options& options);

}  // namespace p2p::daemon
