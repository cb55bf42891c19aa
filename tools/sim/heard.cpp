#include "tools/sim/heard.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

namespace p2p::sim {

using core::Message;
using core::PeerRecord;
using core::PeerRecords;
using core::Signed;

Heard::Mark Heard::mark_of(const PeerRecord& record) {
    return {.incarnation = record.incarnation.value, .number = record.version, .is_set = true};
}

void Heard::note(std::size_t node, const Signed<PeerRecord>& record) {
    const auto author = index_.find(record.author);
    if (author == index_.end()) return;
    if (rows_.empty()) rows_.resize(index_.size());
    if (rows_[node].empty()) rows_[node].resize(index_.size());
    Mark& mark = rows_[node][author->second];
    const Mark told = mark_of(record.value);
    const bool is_older =
        std::tie(told.incarnation, told.number) < std::tie(mark.incarnation, mark.number);
    if (!mark.is_set || !is_older) mark = told;
}

/// What is told of a node itself it may want to see, whatever it has said since: it may be of its
/// life before.
bool Heard::has(std::size_t node, const Signed<PeerRecord>& record) const {
    if (rows_.empty() || rows_[node].empty()) return false;
    const auto author = index_.find(record.author);
    if (author == index_.end() || author->second == node) return false;
    const Mark& mark = rows_[node][author->second];
    const Mark told = mark_of(record.value);
    return mark.is_set
           && std::tie(told.incarnation, told.number) <= std::tie(mark.incarnation, mark.number);
}

void Heard::on_told(std::size_t node, const Message& message) {
    if (const auto* records = std::get_if<PeerRecords>(&message)) {
        for (const Signed<PeerRecord>& record : records->records)
            note(node, record);
    }
}

bool Heard::keep_news(std::size_t node, Message& message) const {
    if (auto* records = std::get_if<PeerRecords>(&message)) {
        std::erase_if(
            records->records, [&](const Signed<PeerRecord>& record) { return has(node, record); });
    }
    return !knows(node, message);
}

bool Heard::knows(std::size_t node, const Message& message) const {
    const auto* records = std::get_if<PeerRecords>(&message);
    return records != nullptr
           && std::all_of(
               records->records.begin(),
               records->records.end(),
               [&](const Signed<PeerRecord>& record) { return has(node, record); });
}

void Heard::forget(std::size_t node) {
    if (!rows_.empty()) rows_[node].clear();
}

}  // namespace p2p::sim
