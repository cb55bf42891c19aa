#include "proto/spec.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/base/limits.hpp"
#include "core/base/nearest.hpp"
#include "proto/msgpack.hpp"
#include "proto/sodium.hpp"
#include "proto/spec_keys.hpp"
#include "proto/spec_values.hpp"
#include "proto/toml.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
namespace limits = core::limits;

namespace {

using Given = std::map<std::string_view, SpecValue>;  // names are the table's

core::Bytes canonical_of(const Given& given) {
    Packer out;
    out.map(given.size());
    for (const auto& [name, value] : given) {
        out.text(name);
        write_value(out, value);
    }
    return out.take();
}

/// The next key of a canonical map, which must lie behind `last` in the table.
const SpecKey* read_key(Unpacker& in, const SpecKey* last) {
    const auto name = in.read_text(limits::name_bytes_max);
    if (!in.is_ok()) return nullptr;
    const SpecKey* key = find_spec_key(name);
    if (key == nullptr) in.fail(ErrorCode::unsupported, "an unknown key: " + std::string(name));
    const bool is_in_order = key == nullptr || last == nullptr || last->name < key->name;
    if (!is_in_order) in.fail(ErrorCode::malformed, "keys out of order");
    return in.is_ok() ? key : nullptr;
}

struct ReadSpec {
    core::JobSpec spec;
    Given given;
};

Result<ReadSpec> read_given(ByteView canonical) {
    if (canonical.size() > limits::job_spec_bytes_max) {
        return Error{ErrorCode::too_large, "a job spec cannot be read", "it is too long", ""};
    }
    Unpacker in(canonical);
    ReadSpec out;
    const std::size_t count = in.read_map(spec_keys().size());
    const SpecKey* key = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        key = read_key(in, key);
        if (key == nullptr) break;
        const SpecValue value = read_value(in, key->form);
        if (!in.is_ok()) break;
        SpecValue normal = value;
        if (!key->set(out.spec, normal)) {
            in.fail(
                ErrorCode::invalid, std::string(key->name) + " takes " + std::string(key->takes));
        }
        out.given.emplace(key->name, std::move(normal));
    }
    if (const auto status = in.finish(); !status) return status.error().with_context("job spec");
    // One job has one id: only the form that writing gives is taken.
    const core::Bytes normal = canonical_of(out.given);
    if (!std::equal(normal.begin(), normal.end(), canonical.begin(), canonical.end())
        || !out.given.contains("schema")) {
        return Error{
            ErrorCode::malformed, "a job spec cannot be read", "not in canonical form", ""};
    }
    return out;
}

// Errors that say where.

Error fault_at(const TomlLeaf& leaf, std::string why, std::string next) {
    return {
        ErrorCode::invalid, leaf.place.text() + ": " + leaf.name, std::move(why), std::move(next)};
}

Error unknown_key(const TomlLeaf& leaf) {
    std::vector<std::string_view> names;
    for (const auto& key : spec_keys()) {
        names.push_back(key.name);
    }
    const auto nearest = core::nearest_name(leaf.name, names);
    return fault_at(
        leaf,
        "no such key in a job",
        nearest ? "did you mean " + std::string(*nearest) + "?" : "see p2pd-job(5) for all keys");
}

/// An empty table that is a section ("[eval]" and nothing below) says nothing and is no fault.
bool is_empty_section(const TomlLeaf& leaf) {
    if (leaf.value->get<TomlTable>() == nullptr) return false;
    const std::string prefix = leaf.name + ".";
    for (const auto& key : spec_keys()) {
        if (key.name.starts_with(prefix)) return true;
    }
    return false;
}

Status take_leaf(const TomlLeaf& leaf, core::JobSpec& spec, Given& given) {
    if (is_empty_section(leaf)) return {};
    const SpecKey* key = find_spec_key(leaf.name);
    if (key == nullptr) return unknown_key(leaf);
    auto value = value_from_toml(key->form, *leaf.value);
    if (!value || !key->set(spec, *value)) {
        std::string why = "it cannot be this";
        if (const auto* text = leaf.value->get<std::string>()) {
            why = toml_quoted(text->substr(0, 64)) + " will not do";
        } else if (!value) {
            why = std::string(leaf.value->kind()) + " will not do";
        }
        return fault_at(leaf, std::move(why), "it takes " + std::string(key->takes));
    }
    given.insert_or_assign(key->name, std::move(*value));
    return {};
}

/// core::validate names the key; the text knows its line.
Error with_place(const Error& error, const std::vector<TomlLeaf>& leaves) {
    for (const auto& leaf : leaves) {
        if (leaf.name == error.what) return error.with_context(leaf.place.text());
    }
    return error;
}

}  // namespace

Result<ParsedSpec> parse_spec_toml(std::string_view text) {
    const auto table = parse_toml(text, limits::job_spec_bytes_max);
    if (!table) return table.error();
    const auto leaves = toml_leaves(*table);

    ParsedSpec parsed;
    Given given{{"schema", std::string(spec_schema)}};
    for (const auto& leaf : leaves) {
        if (const auto status = take_leaf(leaf, parsed.spec, given); !status) return status.error();
    }
    if (const auto status = core::validate(parsed.spec); !status) {
        return with_place(status.error(), leaves);
    }
    parsed.canonical = canonical_of(given);
    if (parsed.canonical.size() > limits::job_spec_bytes_max) {
        return Error{ErrorCode::too_large, "model.tensors", "the spec is above 256 KiB", ""};
    }
    parsed.id = spec_id(parsed.canonical);
    return parsed;
}

Result<core::JobSpec> read_spec_canonical(ByteView canonical) {
    auto read = read_given(canonical);
    if (!read) return read.error();
    if (const auto status = core::validate(read->spec); !status) {
        return status.error().with_context("job spec");
    }
    return std::move(read->spec);
}

core::JobId spec_id(ByteView canonical) {
    return {blake2b_256(canonical)};
}

Result<std::string> spec_canonical_to_toml(ByteView canonical) {
    const auto read = read_given(canonical);
    if (!read) return read.error();
    std::string text = "schema = " + toml_quoted(spec_schema) + "\n";
    std::string_view section;
    for (const auto& [name, value] : read->given) {
        const std::size_t dot = name.find('.');
        if (dot == std::string_view::npos) continue;  // the schema, which stands first
        if (name.substr(0, dot) != section) {
            section = name.substr(0, dot);
            text += "\n[" + std::string(section) + "]\n";
        }
        const SpecKey* key = find_spec_key(name);
        text += std::string(name.substr(dot + 1)) + " = " + value_toml(key->form, value) + "\n";
    }
    return text;
}

}  // namespace p2p::proto
