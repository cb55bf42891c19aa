#include "proto/spec.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/duration_text.hpp"
#include "core/base/limits.hpp"
#include "core/base/nearest.hpp"
#include "proto/msgpack.hpp"
#include "proto/sodium.hpp"
#include "proto/spec_keys.hpp"
#include "proto/toml.hpp"

namespace p2p::proto {

using core::ByteView;
using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
namespace limits = core::limits;

namespace {

/// Longest text of a value: a description; the rest is bounded more tightly by core::validate.
constexpr std::size_t text_bytes_max = limits::description_bytes_max;

using Given = std::map<std::string_view, SpecValue>;  // names are the table's

// From TOML.

std::optional<SpecValue> count_from(const TomlValue& value) {
    const auto* number = value.get<std::int64_t>();
    if (number == nullptr || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::optional<SpecValue> real_from(const TomlValue& value) {
    if (const auto* whole = value.get<std::int64_t>()) return static_cast<double>(*whole);
    const auto* number = value.get<double>();
    if (number == nullptr || !std::isfinite(*number)) return std::nullopt;
    return *number;
}

std::optional<SpecValue> text_from(const TomlValue& value) {
    const auto* text = value.get<std::string>();
    if (text == nullptr || text->size() > text_bytes_max) return std::nullopt;
    return *text;
}

std::optional<SpecValue> texts_from(const TomlValue& value) {
    const auto* array = value.get<TomlArray>();
    if (array == nullptr) return text_from(value);
    std::string joined;
    for (const auto& item : *array) {
        const auto* text = item.get<std::string>();
        if (text == nullptr || text->find('+') != std::string::npos) return std::nullopt;
        joined += (joined.empty() ? "" : "+") + *text;
    }
    if (joined.size() > text_bytes_max) return std::nullopt;
    return joined;
}

std::optional<SpecValue> duration_from(const TomlValue& value) {
    const auto* text = value.get<std::string>();
    const auto duration = text == nullptr ? std::nullopt : core::duration_from_text(*text);
    if (!duration) return std::nullopt;
    return static_cast<std::uint64_t>(duration->count());
}

std::optional<std::vector<std::uint64_t>> numbers_from(
    const TomlValue* value, std::size_t count_max) {
    const auto* array = value == nullptr ? nullptr : value->get<TomlArray>();
    if (array == nullptr || array->size() > count_max) return std::nullopt;
    std::vector<std::uint64_t> numbers;
    for (const auto& item : *array) {
        const auto number = count_from(item);
        if (!number) return std::nullopt;
        numbers.push_back(std::get<std::uint64_t>(*number));
    }
    return numbers;
}

std::optional<core::TensorInfo> tensor_from(const TomlValue& value) {
    const auto* table = value.get<TomlTable>();
    if (table == nullptr || table->entries.size() != 2) return std::nullopt;
    const auto* name = table->find("name");
    const auto* text = name == nullptr ? nullptr : name->get<std::string>();
    auto shape = numbers_from(table->find("shape"), limits::tensor_dimensions_max);
    if (text == nullptr || text->size() > limits::tensor_name_bytes_max || !shape) {
        return std::nullopt;
    }
    return core::TensorInfo{.name = *text, .shape = std::move(*shape), .offset = 0};
}

std::optional<SpecValue> tensors_from(const TomlValue& value) {
    const auto* array = value.get<TomlArray>();
    if (array == nullptr || array->size() > limits::tensors_max) return std::nullopt;
    std::vector<core::TensorInfo> tensors;
    for (const auto& item : *array) {
        auto tensor = tensor_from(item);
        if (!tensor) return std::nullopt;
        tensors.push_back(std::move(*tensor));
    }
    return tensors;
}

std::optional<SpecValue> value_from(SpecForm form, const TomlValue& value) {
    switch (form) {
        case SpecForm::count: return count_from(value);
        case SpecForm::real: return real_from(value);
        case SpecForm::text: return text_from(value);
        case SpecForm::texts: return texts_from(value);
        case SpecForm::duration: return duration_from(value);
        case SpecForm::counts: return numbers_from(&value, limits::layers_max);
        case SpecForm::tensors: return tensors_from(value);
    }
    return std::nullopt;
}

// To and from canonical bytes.

void write_value(Packer& out, const SpecValue& value) {
    if (const auto* count = std::get_if<std::uint64_t>(&value)) {
        out.uint(*count);
    } else if (const auto* real = std::get_if<double>(&value)) {
        out.f64(*real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        out.text(*text);
    } else if (const auto* counts = std::get_if<std::vector<std::uint64_t>>(&value)) {
        out.array(counts->size());
        for (const auto number : *counts)
            out.uint(number);
    } else {
        const auto& tensors = std::get<std::vector<core::TensorInfo>>(value);
        out.array(tensors.size());
        for (const auto& tensor : tensors) {
            out.array(2).text(tensor.name).array(tensor.shape.size());
            for (const auto extent : tensor.shape)
                out.uint(extent);
        }
    }
}

core::Bytes canonical_of(const Given& given) {
    Packer out;
    out.map(given.size());
    for (const auto& [name, value] : given) {
        out.text(name);
        write_value(out, value);
    }
    return out.take();
}

std::vector<std::uint64_t> read_numbers(Unpacker& in, std::size_t count_max) {
    const std::size_t count = in.read_array(count_max);
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i < count && in.is_ok(); ++i) {
        numbers.push_back(in.read_uint());
    }
    return numbers;
}

std::vector<core::TensorInfo> read_tensors(Unpacker& in) {
    const std::size_t count = in.read_array(limits::tensors_max);
    std::vector<core::TensorInfo> tensors;
    for (std::size_t i = 0; i < count && in.is_ok(); ++i) {
        in.expect_array(2);
        core::TensorInfo tensor;
        tensor.name = in.read_text(limits::tensor_name_bytes_max);
        tensor.shape = read_numbers(in, limits::tensor_dimensions_max);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

SpecValue read_value(Unpacker& in, SpecForm form) {
    switch (form) {
        case SpecForm::count:
        case SpecForm::duration: return in.read_uint();
        case SpecForm::real: return in.read_finite();
        case SpecForm::text:
        case SpecForm::texts: return std::string(in.read_text(text_bytes_max));
        case SpecForm::counts: return read_numbers(in, limits::layers_max);
        case SpecForm::tensors: return read_tensors(in);
    }
    return {};
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
    auto value = value_from(key->form, *leaf.value);
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

// To TOML.

std::string shortest(double value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    std::string text(buffer.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

std::string numbers_text(const std::vector<std::uint64_t>& numbers) {
    std::string text;
    for (const auto number : numbers) {
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    }
    return "[" + text + "]";
}

std::string tensors_text(const std::vector<core::TensorInfo>& tensors) {
    std::string text = "[\n";
    for (const auto& tensor : tensors) {
        text += "    {name = " + toml_quoted(tensor.name)
                + ", shape = " + numbers_text(tensor.shape) + "},\n";
    }
    return text + "]";
}

std::string value_text(SpecForm form, const SpecValue& value) {
    switch (form) {
        case SpecForm::count: return std::to_string(std::get<std::uint64_t>(value));
        case SpecForm::real: return shortest(std::get<double>(value));
        case SpecForm::text:
        case SpecForm::texts: return toml_quoted(std::get<std::string>(value));
        case SpecForm::duration: {
            const auto count = static_cast<core::Duration::rep>(std::get<std::uint64_t>(value));
            return "\"" + core::duration_text(core::Duration{count}) + "\"";
        }
        case SpecForm::counts: return numbers_text(std::get<std::vector<std::uint64_t>>(value));
        case SpecForm::tensors: return tensors_text(std::get<std::vector<core::TensorInfo>>(value));
    }
    return {};
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
        text += std::string(name.substr(dot + 1)) + " = " + value_text(key->form, value) + "\n";
    }
    return text;
}

}  // namespace p2p::proto
