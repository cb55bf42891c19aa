#include "tests/support/sample_status.hpp"

#include <memory>

namespace p2p::tests {

namespace {

using namespace std::chrono_literals;
using core::JobState;
using core::PeerState;

core::PeerStatus sample_peer(std::uint8_t byte, const char* name, PeerState state) {
    core::PeerStatus peer;
    peer.id = id_of<core::PeerId>(byte);
    peer.name = name;
    peer.site = std::string(name).substr(0, 4);
    peer.release = "0.1.0";
    peer.state = state;
    peer.incarnation = core::Incarnation{2};
    peer.addresses = {"10.1.0." + std::to_string(byte) + ":7470"};
    return peer;
}

core::JobReport sample_report(core::JobId job, double factor) {
    core::JobReport report;
    report.job = job;
    report.state = JobState::running;
    report.steps = core::StepCount{static_cast<std::uint64_t>(2000 * factor)};
    report.samples = core::SampleCount{report.steps.value * 64};
    report.samples_per_second = 21'300 * factor;
    report.train_loss = 0.214 / factor;
    report.eval_loss = 0.231;
    report.accuracy = 0.968;
    report.distance_ratio = 0.0041;
    report.swaps = static_cast<std::uint64_t>(912 * factor);
    report.utilization = 0.97;
    report.bytes_sent = 38'400'000;
    report.training_time = 67min;
    return report;
}

core::EdgeStatus sample_edge(std::uint8_t byte, core::Duration swap_time) {
    core::EdgeStatus edge;
    edge.peer = id_of<core::PeerId>(byte);
    edge.applied = 300;
    edge.refused = 3;
    edge.open = 1;
    edge.distance_ratio = 0.0042;
    edge.swap_time = swap_time;
    edge.bytes_sent = core::ByteCount{12'800'000};
    edge.last_refusal = core::SwapReason::busy;
    return edge;
}

core::JobStatus running_job() {
    core::JobStatus job;
    job.job = id_of<core::JobId>(0x51);
    job.name = "mnist-mlp";
    auto spec = std::make_shared<core::JobSpec>();
    spec->name = job.name;
    spec->train.epochs = 10;
    job.spec = spec;
    job.submitter = id_of<core::PeerId>(1);
    job.state = JobState::running;
    job.recipe = "ad-psgd: random, continuous, half";
    job.choices = {
        "rho 7: a swap takes 210 ms, a local step 30 ms",
        "links: 2 of 2, since they are no more than a handful"};
    job.since = 67min;
    job.samples_mesh = core::SampleCount{424'310};
    job.samples_total = core::SampleCount{600'000};
    job.progress_ratio = 0.7072;
    job.time_left = 12min;
    job.members = 3;
    job.own = sample_report(job.job, 1);
    job.others = {
        {id_of<core::PeerId>(2), sample_report(job.job, 0.5), 800ms, true},
        {id_of<core::PeerId>(4), sample_report(job.job, 0.25), 6min, false}};
    job.edges = {sample_edge(2, 100ms), sample_edge(5, 900ms)};
    job.ledger = {
        {core::LedgerLine::Kind::burial,
         job.job,
         id_of<core::PeerId>(4),
         0.02,
         core::StepCount{1500}}};
    job.parameter_norm = 31.5;
    return job;
}

core::JobStatus waiting_job() {
    core::JobStatus job;
    job.job = id_of<core::JobId>(0x77);
    job.name = "cifar-vit";
    job.submitter = id_of<core::PeerId>(2);
    job.state = JobState::waiting;
    job.reason = "needs 2 peers, has 1 (min_peers)";
    job.recipe = "d-psgd: ring, rounds";
    job.since = 4min;
    job.members = 1;
    return job;
}

}  // namespace

core::NodeStatus sample_status() {
    core::NodeStatus node;
    node.id = id_of<core::PeerId>(1);
    node.name = "ams1-a";
    node.site = "ams1";
    node.network = id_of<core::NetworkId>(9);
    node.incarnation = core::Incarnation{3};
    node.uptime = 76h;
    node.joined = true;

    node.peers = {
        sample_peer(2, "ams1-b", PeerState::connected),
        sample_peer(3, "fra1-a", PeerState::suspect),
        sample_peer(4, "fra1-b", PeerState::failed),
        sample_peer(5, "nyc1-a", PeerState::connected)};
    node.peers[0].round_trip = 400us;
    node.peers[0].silent_for = 300ms;
    node.peers[0].bulk_sent = core::ByteCount{41'000'000};
    node.peers[0].bulk_received = core::ByteCount{40'100'000};
    node.peers[2].note = "6 m: connection reset";
    node.peers[3].round_trip = 78ms;
    node.peers[3].bulk_sent = core::ByteCount{1'149'000};
    node.jobs = {running_job(), waiting_job()};
    node.health = {
        {"W0107",
         "warning",
         6min,
         "peer fra1-b has not been heard for 6 m (connection reset)",
         "p2pctl peer show fra1-b",
         id_of<core::PeerId>(4),
         std::nullopt}};
    return node;
}

core::NodeStatus nasty_status() {
    core::NodeStatus node = sample_status();
    node.peers[0].name = "\"quoted\" back\\slash";
    node.peers[1].name = "red \x1b[31mhat\x1b[2J";
    node.peers[1].note = "line\nbreak\r\ttab\x07 bell";
    node.peers[2].name = "broken \xff\xfe utf-8";
    node.peers[3].name = "right-to-left \xe2\x80\xae override";
    node.peers[3].site = std::string("nul\0site", 8);
    node.jobs[1].reason = "\x1b]0;title\x07 {\"a\":1}";
    return node;
}

}  // namespace p2p::tests
