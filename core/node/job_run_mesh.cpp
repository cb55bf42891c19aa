// One job among the others: its links and members, and what its mixer wants (core/node/job_run).

#include <type_traits>
#include <utility>

#include "core/base/overload.hpp"
#include "core/node/job_run.hpp"

namespace p2p::core {

namespace {

constexpr Duration retry_after = std::chrono::seconds{2};
constexpr Duration wishes_after = std::chrono::milliseconds{100};

/// Orders of an edge, which waits for the answer.
template <typename Order>
constexpr bool is_answered =
    std::is_same_v<Order, Encode> || std::is_same_v<Order, Decode> || std::is_same_v<Order, Apply>;

}  // namespace

void JobRun::on_linked(TimePoint now, PeerId peer, Incarnation incarnation, Effects& effects) {
    linked_[peer] = incarnation;
    members_.on_linked(peer, true);
    relay_.on_linked(peer);
    for (const Message& record : records())
        desk_.send(peer, record, effects);
    if (!spec_ && announcement_) fetch_spec(now, peer, effects);
    refresh_partner(now, peer, effects);
    begin_when_possible(now, effects);
}

void JobRun::on_unlinked(TimePoint now, PeerId peer, Effects& effects) {
    linked_.erase(peer);
    members_.on_linked(peer, false);
    relay_.on_unlinked(peer);
    refresh_partner(now, peer, effects);
    joiners_.erase(peer);
    if (spec_fetch_ && spec_fetch_->source() == peer) spec_fetch_->on_source_lost();
    if (final_fetch_ && final_fetch_->source() == peer) {
        final_fetch_->on_source_lost();
        alarms_.set_no_later(Alarm::retry, now + retry_after);
    }
    if (catch_up_ && catch_up_->donor == peer && !catch_up_->is_adopting) {
        catch_up_again(now, effects);
    }
}

/// A peer is known to the mixer once the process at the other end of the link has told that it is
/// a member, and is mixed with while its newest report says that it takes part.
void JobRun::refresh_partner(TimePoint now, PeerId peer, Effects& effects) {
    if (!mixer_) return;
    const auto linked = linked_.find(peer);
    const Members::Member* member = members_.find(peer);
    const bool is_member = linked != linked_.end() && member != nullptr
                           && member->report.value.incarnation == linked->second;
    MixingOutputs outputs;
    if (is_member) {
        mixer_->set_site(peer, desk_.site_of(peer));
        mixer_->on_linked(now, peer, linked->second, outputs);
        mixer_->set_taking_part(now, peer, is_mixing(member->state()), outputs);
        if (pusher_) {
            pusher_->on_linked(now, peer, linked->second, outputs);
            const bool runs = member->state() == JobState::running;
            pusher_->set_taking_part(now, peer, runs, outputs);
        }
    } else {
        mixer_->on_unlinked(now, peer, outputs);
        push_fetches_.erase(peer);
        if (pusher_) pusher_->on_unlinked(now, peer, outputs);
    }
    lift(now, outputs, effects);
}

void JobRun::refresh_partners(TimePoint now, Effects& effects) {
    for (const auto& [peer, incarnation] : linked_)
        refresh_partner(now, peer, effects);
}

void JobRun::on_report(
    TimePoint now, PeerId from, const Signed<JobReport>& report, Effects& effects) {
    if (report.author == desk_.self()) {
        if (report.value.incarnation < config_.incarnation) {
            progress_.on_own_report(report.value.samples, stepped_.samples);
        }
    }
    Members::Member* news = report.author == desk_.self() ? nullptr : members_.add(now, report);
    const auto passing =
        relay_.on_report(now, from, report.author, report.value, /*is_news=*/news != nullptr);
    for (const PeerId peer : passing.to)
        desk_.send(peer, report, effects);
    if (relay_.has_wishes()) alarms_.set_no_later(Alarm::wishes, now + wishes_after);
    if (news == nullptr) return;
    news->spacing = passing.spacing;
    progress_.on_report(now, report.author, report.value.samples);
    if (mixer_ && mixer_->wants_work_ratio()) mixer_->set_work_ratio(work_ratio(now));
    catch_up_when_stale(now, effects);
    consider_kept_end(now, effects);
    if (linked_.contains(report.author)) {
        refresh_partner(now, report.author, effects);
        begin_when_possible(now, effects);
    }
    if (state_ != JobState::running) return;
    consider_offered_state(now, effects);
    if (linked_.contains(report.author)) pace(effects);
    end_when_over(now, effects);
}

/// What is wanted is brought at once; the receiver knows whether it is news.
void JobRun::on_report_wish(TimePoint now, PeerId from, const ReportWish& wish, Effects& effects) {
    relay_.on_wish(from, wish.route, wish.authors);
    if (relay_.has_wishes()) alarms_.set_no_later(Alarm::wishes, now + wishes_after);
    if (wish.route != ReportRoute::want) return;
    for (const PeerId& author : wish.authors) {
        const Members::Member* member = members_.find(author);
        if (member != nullptr && author != from) desk_.send(from, member->report, effects);
    }
}

void JobRun::tell_report_wishes(TimePoint now, Effects& effects) {
    for (ReportRelay::Wish& wish : relay_.take_wishes(now)) {
        desk_.send(
            wish.to,
            ReportWish{.job = job_, .route = wish.route, .authors = std::move(wish.authors)},
            effects);
    }
}

/// Own speed over the mean of those that train, as they tell it.
double JobRun::work_ratio(TimePoint now) const {
    RateMeter rate = samples_rate_;
    const double own = rate.per_second(now);
    double sum = own;
    double count = 1;
    for (const PeerId peer : members_.live_in(now, {JobState::running})) {
        const double theirs = members_.find(peer)->report.value.samples_per_second;
        if (theirs <= 0) continue;
        sum += theirs;
        ++count;
    }
    return own > 0 ? own * count / sum : 1;
}

void JobRun::on_swap_word(TimePoint now, PeerId from, const SwapWord& word, Effects& effects) {
    if (mixer_ && mixer_->knows(from)) {
        MixingOutputs outputs;
        mixer_->on_word(now, from, word, outputs);
        return lift(now, outputs, effects);
    }
    const auto decline = [&](const SwapKey& key) {
        desk_.send(from, SwapClose{.key = key, .why = SwapReason::not_running}, effects);
    };
    if (const auto* open = std::get_if<SwapOpen>(&word)) decline(open->key);
    if (const auto* state = std::get_if<SwapState>(&word)) {
        if (state->stage != SwapStage::idle) decline(state->key);
    }
}

void JobRun::start_encodings(PeerId peer, Effects& effects) {
    MixingOutputs outputs;
    mixer_->start_encodings(peer, outputs);
    lift(TimePoint{}, outputs, effects);  // orders only: no output of it depends on the time
}

template <typename Order>
void JobRun::order_swap(Order order, Effects& effects) {
    PendingWork pending{.job = job_, .purpose = Purpose::none, .edge = {}};
    if constexpr (std::is_same_v<Order, OuterStep>) {
        if (!order.restarts) pending.purpose = Purpose::outer;
    }
    if constexpr (std::is_same_v<Order, EncodePush> || std::is_same_v<Order, AbsorbPush>) {
        pending.purpose = Purpose::push;
        pending.edge.shard = order.shard;
    }
    if constexpr (is_answered<Order>) {
        pending.purpose = Purpose::swap;
        pending.edge = order.edge;
    }
    desk_.order(pending, std::move(order), effects);
}

void JobRun::start_mixing(TimePoint now, Effects& effects) {
    MixingOutputs outputs;
    mixer_->start(now, stepped_.steps, outputs);
    if (pusher_) pusher_->start(now, stepped_.steps, outputs);
    lift(now, outputs, effects);
}

void JobRun::stop_mixing(TimePoint now, Effects& effects) {
    MixingOutputs outputs;
    mixer_->stop(now, outputs);
    if (pusher_) pusher_->stop(now, outputs);
    lift(now, outputs, effects);
}

void JobRun::lift(TimePoint now, MixingOutputs& outputs, Effects& effects) {
    for (MixingOutput& output : outputs) {
        std::visit(
            Overload{
                [&](SwapSend& send) {
                    std::visit(
                        [&](auto& message) { desk_.send(send.to, message, effects); },
                        send.message);
                },
                [&](PushSend& send) {
                    std::visit(
                        [&](auto& message) { desk_.send(send.to, message, effects); },
                        send.message);
                },
                [&](SwapOrder& order) {
                    std::visit([&](auto& each) { order_swap(std::move(each), effects); }, order);
                },
                [&](StepLimit& limit) {
                    limit_ = limit;
                    pace(effects);
                },
                [&](SwapOffence& offence) {
                    desk_.offenders.emplace_back(offence.peer, offence.why);
                },
                [&](WantsBlob& wants) { fetch_push(now, wants, effects); },
                [&](BlobServed& served) { serve_push(served, effects); },
                [&](WantsRoom& wants) { desk_.wants_room.insert(wants.peer); },
                [&](SwapEnded& ended) {
                    if (ended.why == SwapReason::none) progress_.mark_current(now);
                    effects.emplace_back(Say{ended});
                },
                [&](LedgerLine& line) {
                    note(line, effects);
                }},
            output);
    }
}

}  // namespace p2p::core
