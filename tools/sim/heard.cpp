#include "tools/sim/heard.hpp"

#include <algorithm>
#include <tuple>
#include <variant>

namespace p2p::sim {

using core::JobReport;
using core::Message;
using core::PeerRecord;
using core::PeerRecords;
using core::Signed;

Heard::Mark Heard::mark_of(const JobReport& report) {
    return {
        .topic = report.job.head() | 1U,
        .incarnation = report.incarnation.value,
        .number = report.sequence};
}

Heard::Mark Heard::mark_of(const PeerRecord& record) {
    return {.topic = 1, .incarnation = record.incarnation.value, .number = record.version};
}

template <typename Value>
void Heard::note(Rows& rows, std::size_t node, const Signed<Value>& record) {
    const auto author = index_.find(record.author);
    if (author == index_.end()) return;
    if (rows.empty()) rows.resize(index_.size());
    if (rows[node].empty()) rows[node].resize(index_.size());
    Mark& mark = rows[node][author->second];
    const Mark told = mark_of(record.value);
    const bool is_older =
        std::tie(told.incarnation, told.number) < std::tie(mark.incarnation, mark.number);
    if (mark.topic != told.topic || !is_older) mark = told;
}

/// What is told of a node itself it may want to see, whatever it has said since: it may be of its
/// life before.
template <typename Value>
bool Heard::has(const Rows& rows, std::size_t node, const Signed<Value>& record) const {
    if (rows.empty() || rows[node].empty()) return false;
    const auto author = index_.find(record.author);
    if (author == index_.end() || author->second == node) return false;
    const Mark& mark = rows[node][author->second];
    const Mark told = mark_of(record.value);
    return mark.topic == told.topic
           && std::tie(told.incarnation, told.number) <= std::tie(mark.incarnation, mark.number);
}

void Heard::on_told(std::size_t node, const Message& message) {
    if (const auto* report = std::get_if<Signed<JobReport>>(&message))
        note(reports_, node, *report);
    if (const auto* records = std::get_if<PeerRecords>(&message)) {
        for (const Signed<PeerRecord>& record : records->records)
            note(records_, node, record);
    }
}

bool Heard::keep_news(std::size_t node, Message& message) const {
    if (auto* records = std::get_if<PeerRecords>(&message)) {
        std::erase_if(records->records, [&](const Signed<PeerRecord>& record) {
            return has(records_, node, record);
        });
    }
    return !knows(node, message);
}

bool Heard::knows(std::size_t node, const Message& message) const {
    if (const auto* report = std::get_if<Signed<JobReport>>(&message))
        return has(reports_, node, *report);
    const auto* records = std::get_if<PeerRecords>(&message);
    return records != nullptr
           && std::all_of(
               records->records.begin(),
               records->records.end(),
               [&](const Signed<PeerRecord>& record) { return has(records_, node, record); });
}

void Heard::forget(std::size_t node) {
    for (Rows* rows : {&reports_, &records_})
        if (!rows->empty()) (*rows)[node].clear();
}

}  // namespace p2p::sim
