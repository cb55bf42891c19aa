#include "daemon/node_setup.hpp"

#include <algorithm>
#include <thread>

#include <unistd.h>

#include "core/base/limits.hpp"
#include "daemon/clock.hpp"
#include "daemon/own_addresses.hpp"
#include "daemon/trust_file.hpp"
#include "proto/version.hpp"

namespace p2p::daemon {

namespace {

std::string host_name() {
    char name[core::limits::name_bytes_max + 1] = {};
    if (gethostname(name, sizeof(name) - 1) != 0) return "unnamed";
    return name;
}

core::KernelLevel kernel_level(const std::string& asked) {
    const auto named = core::kernel_level_from_name(asked);
    return named ? *named : core::best_kernel_level();  // "auto"
}

std::size_t worker_threads(std::uint32_t asked) {
    if (asked > 0) return asked;
    return std::max<std::size_t>(2, std::thread::hardware_concurrency()) - 1;
}

}  // namespace

core::Result<core::NodeConfig> node_config(const Options& options, const ProcessFacts& facts) {
    auto peers = load_peers(options.peers_file);
    if (!peers) return peers.error();
    const auto network = settle_network(options.state_dir, options.network_id);
    if (!network) return network.error();

    core::NodeConfig config;
    config.name = options.name.empty() ? host_name() : options.name;
    config.site = options.site;
    config.release = proto::release;
    config.network = *network;
    config.incarnation = facts.incarnation;
    config.advertise =
        options.advertise.empty() ? own_addresses(facts.listening) : options.advertise;
    config.allowed = std::move(*peers);
    std::erase_if(config.allowed, [&](const auto& peer) { return peer.id == facts.self; });
    for (const BootstrapPeer& peer : options.bootstrap) {
        config.bootstrap[peer.id].push_back(peer.address);
    }
    config.peers_max = options.max_peers;
    config.accept = options.accept;
    config.keep_finished = options.keep_finished;
    for (const auto& [name, folder] : options.datasets)
        config.datasets.insert(name);
    return config;
}

LinksConfig links_config(const Options& options, const core::NodeConfig& node) {
    LinksConfig config;
    config.session.network = node.network;
    config.session.accept_unknown_id = options.accept_unknown_id;
    config.session.hello.incarnation = node.incarnation;
    config.session.hello.wall_clock_unix_ms = unix_now_ms();
    config.session.hello.listen_addresses = node.advertise;
    config.session.hello.name = node.name;
    config.session.hello.site = node.site;
    for (const core::AllowedPeer& peer : node.allowed)
        config.allowed.insert(peer.id);
    return config;
}

WorkshopConfig workshop_config(const Options& options, core::PeerId self) {
    return {
        .state_dir = options.state_dir,
        .datasets = {options.datasets.begin(), options.datasets.end()},
        .worker_threads = worker_threads(options.threads),
        .duty = options.duty,
        .kernel_level = kernel_level(options.kernel_level),
        .self = self,
        .batch_size_override = options.batch_size,
        .min_free_bytes = options.min_free_bytes};
}

std::vector<HostPort> listen_addresses(const Options& options) {
    std::vector<HostPort> addresses;
    for (const std::string& text : options.listen) {
        if (const auto address = host_port_from(text)) addresses.push_back(*address);
    }
    return addresses;
}

}  // namespace p2p::daemon
