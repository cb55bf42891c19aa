#include "tools/sim/settings.hpp"

namespace p2p::sim {

core::Result<Settings> read_settings(const std::vector<std::string>& given) {
    Settings settings;
    for (const std::string& text : given) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            return core::Error{
                core::ErrorCode::invalid,
                text,
                "it is not of the form axis=value",
                "write for example codec=q8"};
        }
        settings[text.substr(0, equals)] = text.substr(equals + 1);
    }
    return settings;
}

std::string settings_text(const Settings& settings) {
    std::string text;
    for (const auto& [axis, value] : settings)
        text += (text.empty() ? "" : ":") + axis + "=" + value;
    return text;
}

Settings joined(Settings under, const Settings& over) {
    for (const auto& [axis, value] : over)
        under.insert_or_assign(axis, value);
    return under;
}

}  // namespace p2p::sim
