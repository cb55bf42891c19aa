#include "tools/p2pctl/document.hpp"

#include "core/base/bytes.hpp"
#include "proto/json.hpp"

namespace p2p::tools {

namespace {

/// Larger than any document of a thousand jobs and their members.
constexpr std::size_t document_bytes_max = 64 * core::mib;

}  // namespace

const Json& value_at(const Json& document, std::string_view path) {
    static const Json nothing;
    const Json* value = &document;
    while (!path.empty()) {
        const auto dot = path.find('.');
        if (!value->is_object()) return nothing;
        const auto found = value->find(path.substr(0, dot));
        if (found == value->end()) return nothing;
        value = &*found;
        path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
    }
    return *value;
}

std::optional<double> number_at(const Json& document, std::string_view path) {
    return proto::json_as<double>(value_at(document, path));
}

std::string text_at(const Json& document, std::string_view path) {
    return proto::json_as<std::string>(value_at(document, path)).value_or("");
}

bool flag_at(const Json& document, std::string_view path) {
    return proto::json_as<bool>(value_at(document, path)).value_or(false);
}

const Json& list_at(const Json& document, std::string_view path) {
    static const Json empty = Json::array();
    const Json& value = value_at(document, path);
    return value.is_array() ? value : empty;
}

core::Result<Json> read_document(std::string_view text, std::string_view schema) {
    auto document = proto::parse_json(text, document_bytes_max);
    if (!document) return document.error();
    const std::string found = text_at(*document, "schema");
    if (found == schema) return document;
    return core::Error{
        core::ErrorCode::unsupported,
        "p2pd answered with '" + found + "' instead of '" + std::string(schema) + "'",
        "p2pctl and p2pd are of different versions",
        "p2pctl version"};
}

}  // namespace p2p::tools
