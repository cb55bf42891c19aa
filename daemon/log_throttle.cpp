#include "daemon/log_throttle.hpp"

#include <algorithm>
#include <utility>

namespace p2p::daemon {
namespace {

/// Events with the same key are identical: level, name and all fields but details.
std::string key_of(const LogEvent& event) {
    std::string key = event.name;
    key += static_cast<char>('0' + static_cast<int>(event.level));
    for (const LogField& field : event.fields) {
        if (field.is_detail) continue;
        key += '\n' + field.key + '=' + field.value;
    }
    return key;
}

}  // namespace

std::vector<LogEvent> LogThrottle::admit(core::TimePoint now, LogEvent event) {
    std::vector<LogEvent> out = take_due(now);
    std::string key = key_of(event);
    const auto known = kinds_.find(key);
    if (known != kinds_.end()) {
        known->second.held_back += 1;
        known->second.newest = std::move(event);
        return out;
    }
    if (kinds_.size() >= keys_max) {
        const auto older = [](const auto& a, const auto& b) {
            return a.second.since < b.second.since;
        };
        close(std::min_element(kinds_.begin(), kinds_.end(), older), out);
    }
    out.push_back(event);
    kinds_.emplace(std::move(key), Kind{now, 0, std::move(event)});
    return out;
}

std::vector<LogEvent> LogThrottle::take_due(core::TimePoint now) {
    std::vector<LogEvent> out;
    for (auto kind = kinds_.begin(); kind != kinds_.end();) {
        const auto next = std::next(kind);
        if (now - kind->second.since >= window) close(kind, out);
        kind = next;
    }
    return out;
}

std::vector<LogEvent> LogThrottle::take_all() {
    std::vector<LogEvent> out;
    while (!kinds_.empty()) {
        close(kinds_.begin(), out);
    }
    return out;
}

void LogThrottle::close(std::map<std::string, Kind>::iterator kind, std::vector<LogEvent>& out) {
    if (kind->second.held_back > 0) {
        LogEvent count = std::move(kind->second.newest);
        count.fields.push_back({"repeated", std::to_string(kind->second.held_back), true});
        out.push_back(std::move(count));
    }
    kinds_.erase(kind);
}

}  // namespace p2p::daemon
