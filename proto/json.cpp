#include "proto/json.hpp"

#include <algorithm>

namespace p2p::proto {

using core::Error;
using core::ErrorCode;

namespace {

/// The deepest nesting of brackets outside of strings, whatever else is wrong with the text.
std::size_t depth_of(std::string_view text) {
    std::size_t depth = 0;
    std::size_t deepest = 0;
    bool is_in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_in_string && c == '\\') {
            ++i;
        } else if (c == '"') {
            is_in_string = !is_in_string;
        } else if (!is_in_string && (c == '[' || c == '{')) {
            deepest = std::max(deepest, ++depth);
        } else if (!is_in_string && (c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

}  // namespace

core::Result<Json> parse_json(std::string_view text, std::size_t bytes_max) {
    const auto fault = [](ErrorCode code, std::string why) {
        return Error{code, "this JSON cannot be read", std::move(why), ""};
    };
    if (text.size() > bytes_max) {
        return fault(ErrorCode::too_large, "more than " + std::to_string(bytes_max) + " bytes");
    }
    if (depth_of(text) > json_depth_max) {
        return fault(
            ErrorCode::too_large, "nested more than " + std::to_string(json_depth_max) + " deep");
    }
    try {
        return Json::parse(text);
    } catch (const nlohmann::json::exception& error) {
        return fault(ErrorCode::malformed, error.what());  // it names the byte and what is wrong
    }
}

std::string json_text(const Json& value, bool is_ascii) {
    return value.dump(-1, ' ', is_ascii, Json::error_handler_t::replace);
}

std::string json_pretty_text(const Json& value) {
    return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace p2p::proto
