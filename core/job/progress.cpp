#include "core/job/progress.hpp"

#include <algorithm>

namespace p2p::core {

namespace {

constexpr double growth_max = 4;
constexpr double rate_floor = 1000;  // samples a second that nobody is doubted for

}  // namespace

void Progress::set_own(SampleCount samples) {
    trainer_ = std::max(trainer_, samples);
}

void Progress::on_own_report(SampleCount reported, SampleCount of_trainer) {
    if (reported > of_trainer + lost_) lost_ = reported - of_trainer;
}

void Progress::on_report(TimePoint now, PeerId peer, SampleCount samples) {
    const auto [found, is_new] = others_.try_emplace(peer);
    Counter& counter = found->second;
    if (is_new) {
        counter.samples = samples;
        counter.at = now;
        first_others_ += samples;
        others_sum_ += samples;
        return;
    }
    const double seconds = to_seconds(now - counter.at);
    if (samples <= counter.samples || seconds <= 0) return;

    auto growth = static_cast<double>((samples - counter.samples).value);
    if (counter.per_second) {
        const double most = growth_max * std::max(*counter.per_second, rate_floor) * seconds;
        if (growth > most) {
            growth = most;
            ++claims_capped_;
        }
    }
    counter.samples += SampleCount{static_cast<std::uint64_t>(growth)};
    others_sum_ += SampleCount{static_cast<std::uint64_t>(growth)};
    const double rate = growth / seconds;
    counter.between = rate;
    counter.per_second = std::max(rate, counter.per_second.value_or(rate) * 0.9);
    counter.at = now;
}

SampleCount Progress::own() const {
    return trainer_ + lost_;
}

SampleCount Progress::mesh() const {
    return own() + others_sum_;
}

SampleCount Progress::of(PeerId peer) const {
    if (peer == self_) return own();
    const auto found = others_.find(peer);
    return found == others_.end() ? SampleCount{} : found->second.samples;
}

double Progress::ratio() const {
    if (total_.value == 0) return 0;
    return std::min(
        1.0, static_cast<double>(estimated().value) / static_cast<double>(total_.value));
}

void Progress::on_resumed(SampleCount own, SampleCount mesh) {
    set_own(own);
    first_own_ = own;
    resumed_mesh_ = std::max(own, mesh);
}

void Progress::mark_current(TimePoint now) {
    current_at_ = now;
    current_own_ = own();
    current_others_ = others();
}

double Progress::staleness(TimePoint now, Duration quiet) const {
    const SampleCount whole = total_.value > 0 ? total_ : mesh();
    if (whole.value == 0) return 0;
    SampleCount missed;
    if (!current_at_) {
        const SampleCount known = first_own_ + first_others_;
        missed = known - std::min(known, resumed_mesh_);
    } else {
        const SampleCount own_since = own() - std::min(own(), current_own_);
        const SampleCount others_since = others() - std::min(others(), current_others_);
        if (now - *current_at_ > quiet && others_since > own_since) missed = others_since;
    }
    return static_cast<double>(missed.value) / static_cast<double>(whole.value);
}

}  // namespace p2p::core
