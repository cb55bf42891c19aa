// State that travels whole: a node that joined late or was away fetches it from one donor
// (core/node/job_run; design: JOBS, "Joining, and coming back").

#include <utility>

#include "core/job/joining.hpp"
#include "core/node/job_run.hpp"

namespace p2p::core {

namespace {

constexpr Duration donor_patience = std::chrono::seconds{10};
constexpr Duration fetch_patience = std::chrono::seconds{10};
constexpr Duration witness_patience = std::chrono::seconds{12};  // two sketches of each member
constexpr Duration reach_patience = std::chrono::seconds{30};    // for a donor that is not linked
constexpr Duration donor_busy_for = std::chrono::seconds{1};
constexpr Duration busy_for = std::chrono::seconds{2};
constexpr Duration ask_again_after = std::chrono::milliseconds{200};
constexpr Duration frozen_for = std::chrono::minutes{2};
constexpr Duration frozen_fresh_for = std::chrono::seconds{10};

}  // namespace

void JobRun::note(LedgerLine line, Effects& effects) {
    ledger_.push(line);
    effects.emplace_back(Say{line});
}

void JobRun::drop_blob(const BlobHash& hash, Effects& effects) {
    desk_.blobs.erase(hash);
    desk_.order({}, DropBlob{.hash = hash}, effects);
}

// --- the one who lags ----------------------------------------------------------------------------

bool JobRun::is_stale(TimePoint now) const {
    const Duration quiet = 3 * config_.report_interval;
    return progress_.staleness(now, quiet) > spec_->mixing.staleness_max;
}

/// Before a swap opens: one with a replica that has missed the work would spoil the other's.
void JobRun::catch_up_when_stale(TimePoint now, Effects& effects) {
    if (catch_up_ || !mixer_ || state_ != JobState::running || !is_stale(now)) return;
    catch_up_.emplace();
    catch_up_->since = now;
    stop_mixing(now, effects);
    ask_donor(now, effects);
}

/// @pre catch_up_, and nothing is being fetched for it
void JobRun::ask_donor(TimePoint now, Effects& effects) {
    std::vector<PeerId> donors;
    bool may_come = false;  // one that is live, but not linked (again)
    for (const PeerId peer : members_.live_in(now, {JobState::running})) {
        if (donors_refused_.contains(peer)) continue;
        may_come = true;
        if (linked_.contains(peer)) donors.push_back(peer);
    }
    if (donors.empty()) {
        may_come = may_come && now - catch_up_->since < reach_patience;
        if (!may_come) return give_up_catching_up(now, effects);
        catch_up_->give_up_at = now + donor_busy_for;
        return;
    }
    const PeerId donor = donors[rng_.below(donors.size())];
    catch_up_->donor = donor;
    catch_up_->give_up_at = now + donor_patience;
    desk_.send(donor, StateRequest{.job = job_}, effects);
}

/// A donor failed, or has nothing to give now: another try, without a swap in between.
void JobRun::catch_up_again(TimePoint now, Effects& effects) {
    const TimePoint since = catch_up_->since;
    drop_catch_up(effects);
    if (state_ != JobState::running || !is_stale(now)) return give_up_catching_up(now, effects);
    catch_up_.emplace();
    catch_up_->since = since;
    ask_donor(now, effects);
}

void JobRun::drop_catch_up(Effects& effects) {
    if (catch_up_ && catch_up_->fetch) drop_blob(catch_up_->fetch->hash(), effects);
    catch_up_.reset();
}

void JobRun::give_up_catching_up(TimePoint now, Effects& effects) {
    drop_catch_up(effects);
    if (state_ != JobState::running) return;
    start_mixing(now, effects);
}

void JobRun::on_state_offer(TimePoint now, PeerId from, const StateOffer& offer, Effects& effects) {
    if (!catch_up_ || catch_up_->donor != from || catch_up_->fetch) return;
    if (offer.hash.is_zero() || offer.bytes.value > blob_bytes_max_) {
        catch_up_->donor.reset();
        const Duration wait = std::min(offer.busy_for, donor_patience);
        catch_up_->give_up_at = now + from_seconds(to_seconds(wait) * (1 + rng_.uniform()));
        return;  // asked again, perhaps of another, when that time has come
    }
    catch_up_->fetch.emplace(offer.hash, blob_bytes_max_);
    desk_.send(from, catch_up_->fetch->ask(now, from, fetch_patience), effects);
    catch_up_->give_up_at = now + fetch_patience;
}

void JobRun::on_state_checked(TimePoint now, const BlobChecked& checked, Effects& effects) {
    if (!catch_up_ || !catch_up_->fetch) return;
    if (!checked.distance_ratio) return refuse_donor(now, checked.distance_ratio.error(), effects);
    catch_up_->offered = checked.sketch;
    catch_up_->give_up_at = now + witness_patience;
    consider_offered_state(now, effects);
}

/// Looked at again with each report of a member, and taken at the latest when patience is over and
/// nobody has spoken against it.
void JobRun::consider_offered_state(TimePoint now, Effects& effects) {
    if (!catch_up_ || !catch_up_->offered || catch_up_->is_adopting) return;
    const Witnesses said = judge_state(now, *catch_up_->donor, *catch_up_->offered, members_);
    if (said == Witnesses::differ) {
        return refuse_donor(
            now,
            {ErrorCode::not_permitted,
             "the state that it offered lies far from what the other members train",
             "it is broken, or means to replace the model",
             "compare its distance in `p2pctl job show` with the others'"},
            effects);
    }
    // What is open is settled on the replica that it was measured on.
    const bool may_wait = said == Witnesses::wait || mixer_->has_open_swap();
    if (may_wait && now < catch_up_->give_up_at) return;
    catch_up_->is_adopting = true;
    catch_up_->give_up_at = now + fetch_patience;
    desk_.order(
        {.job = job_, .purpose = Purpose::adopt_state, .edge = {}},
        Adopt{.job = job_, .hash = catch_up_->fetch->hash()},
        effects);
}

void JobRun::refuse_donor(TimePoint now, const Error& why, Effects& effects) {
    donors_refused_.insert(*catch_up_->donor);
    desk_.offenders.emplace_back(*catch_up_->donor, why);
    catch_up_again(now, effects);
}

void JobRun::on_adopt_answer(
    TimePoint now, Purpose purpose, const WorkResult& result, Effects& effects) {
    const bool is_final = purpose == Purpose::adopt_final;
    const auto* adopted = std::get_if<Adopted>(&result);
    if (adopted != nullptr) {
        note(
            {.kind = is_final ? LedgerLine::Kind::final_model : LedgerLine::Kind::adoption,
             .job = job_,
             .peer = desk_.self(),
             .norm = adopted->displacement_norm,
             .step = stepped_.steps},
            effects);
    }
    if (is_final) {
        is_checking_final_ = false;
        if (adopted != nullptr && awaits_final()) become_done(now, effects);
        return;
    }
    if (!catch_up_) return;
    if (adopted != nullptr) {
        progress_.mark_current(now);
        donors_refused_.clear();
    }
    give_up_catching_up(now, effects);
}

// --- the donor -----------------------------------------------------------------------------------

void JobRun::on_state_request(TimePoint now, PeerId from, Effects& effects) {
    // A state on its way to one joiner is not dropped for the next.
    const bool is_fresh = frozen_ && now - frozen_at_ < frozen_fresh_for;
    const bool is_giving = frozen_ && !is_fresh && desk_.is_sending(*frozen_);
    const bool can_give =
        state_ == JobState::running && mixer_ && !catch_up_ && is_trainer_ready_ && !is_giving;
    if (!can_give) {
        const StateOffer busy{
            .job = job_, .hash = {}, .bytes = {}, .busy_for = busy_for, .progress = {}};
        return desk_.send(from, busy, effects);
    }
    if (is_fresh) return offer_frozen(from, effects);
    joiners_.insert(from);
    if (is_freezing_) return;
    is_freezing_ = true;
    desk_.order(
        {.job = job_, .purpose = Purpose::freeze_for_joiner, .edge = {}},
        Freeze{.job = job_, .with_optimizer = true},
        effects);
}

void JobRun::on_frozen_for_joiner(TimePoint now, const Frozen& frozen, Effects& effects) {
    if (frozen_ && *frozen_ != frozen.hash) drop_blob(*frozen_, effects);
    frozen_ = frozen.hash;
    frozen_bytes_ = frozen.bytes;
    frozen_at_ = now;
    desk_.blobs[frozen.hash] = frozen.bytes;
    alarms_.set(Alarm::drop_frozen, now + frozen_for);
    for (const PeerId joiner : std::exchange(joiners_, {}))
        offer_frozen(joiner, effects);
}

void JobRun::offer_frozen(PeerId joiner, Effects& effects) {
    desk_.send(
        joiner,
        StateOffer{
            .job = job_,
            .hash = *frozen_,
            .bytes = ByteCount{frozen_bytes_},
            .busy_for = {},
            .progress = progress_.mesh()},
        effects);
}

// --- pieces of blobs -----------------------------------------------------------------------------

bool JobRun::on_blob_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects) {
    if (spec_fetch_ && spec_fetch_->hash() == chunk.hash) {
        on_spec_chunk(now, from, chunk, effects);
        return true;
    }
    if (on_push_chunk(now, from, chunk, effects)) return true;
    const bool is_final = final_fetch_ && final_fetch_->hash() == chunk.hash;
    const bool is_state = catch_up_ && catch_up_->fetch && catch_up_->fetch->hash() == chunk.hash;
    if (!is_final && !is_state) return false;

    BlobFetch& fetch = is_final ? *final_fetch_ : *catch_up_->fetch;
    const BlobFetch::Verdict verdict = fetch.on_chunk(now, from, chunk);
    if (verdict == BlobFetch::Verdict::skip) return true;
    if (verdict != BlobFetch::Verdict::keep) {
        const bool is_wrong = verdict == BlobFetch::Verdict::refuse;
        if (is_final) {
            on_final_source_failed(from, is_wrong, effects);
        } else {
            if (is_wrong) donors_refused_.insert(from);
            catch_up_again(now, effects);
        }
        return true;
    }
    desk_.order(
        {},
        StoreBlob{
            .job = job_,
            .hash = chunk.hash,
            .offset = chunk.offset,
            .total = chunk.total,
            .bytes = chunk.bytes},
        effects);
    if (is_state) catch_up_->give_up_at = now + fetch_patience;
    if (!fetch.is_complete()) return true;
    if (is_final) is_checking_final_ = true;
    desk_.order(
        {.job = job_,
         .purpose = is_final ? Purpose::check_final : Purpose::check_state,
         .edge = {}},
        CheckBlob{.job = job_, .hash = chunk.hash},
        effects);
    return true;
}

/// From the beginning, and from somebody else where there is one.
void JobRun::fetch_spec_elsewhere(TimePoint now, const Error& why) {
    if (const auto source = spec_fetch_->source()) {
        spec_sources_refused_.insert(*source);
        desk_.offenders.emplace_back(*source, why);
    }
    spec_arriving_.clear();
    spec_bytes_.reset();
    const BlobHash hash = spec_fetch_->hash();  // emplace destroys what it would be read from
    spec_fetch_.emplace(hash, limits::job_spec_bytes_max);
    alarms_.set(Alarm::retry, now + ask_again_after);
}

void JobRun::on_spec_chunk(TimePoint now, PeerId from, const BlobChunk& chunk, Effects& effects) {
    switch (spec_fetch_->on_chunk(now, from, chunk)) {
        case BlobFetch::Verdict::skip: return;
        case BlobFetch::Verdict::not_held:
            spec_fetch_->on_source_lost();
            alarms_.set(Alarm::retry, now + ask_again_after);
            return;
        case BlobFetch::Verdict::refuse:
            return fetch_spec_elsewhere(
                now,
                {ErrorCode::wrong_size,
                 "a piece of a job's spec does not fit the pieces before",
                 "the peer that gave it is broken, or hostile",
                 ""});
        case BlobFetch::Verdict::keep: break;
    }
    spec_arriving_.insert(spec_arriving_.end(), chunk.bytes->begin(), chunk.bytes->end());
    if (!spec_fetch_->is_complete()) return;
    spec_bytes_ = std::make_shared<const Bytes>(std::move(spec_arriving_));
    spec_arriving_.clear();
    desk_.order(
        {.job = job_, .purpose = Purpose::read_spec, .edge = {}},
        ReadSpec{.job = job_, .bytes = spec_bytes_},
        effects);
}

}  // namespace p2p::core
