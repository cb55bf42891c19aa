#include "proto/spec_values.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/duration_text.hpp"
#include "core/base/limits.hpp"

namespace p2p::proto {

namespace limits = core::limits;

namespace {

/// Longest text of a value: a description; the rest is bounded more tightly by core::validate.
constexpr std::size_t text_bytes_max = limits::description_bytes_max;

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

// From canonical bytes.

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

// To TOML.

/// As `shortest_text`, with a point or exponent, so that it stays a float.
std::string float_text(double value) {
    std::string text = shortest_text(value);
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

}  // namespace

std::optional<SpecValue> value_from_toml(SpecForm form, const TomlValue& value) {
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

std::string value_toml(SpecForm form, const SpecValue& value) {
    switch (form) {
        case SpecForm::count: return std::to_string(std::get<std::uint64_t>(value));
        case SpecForm::real: return float_text(std::get<double>(value));
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

std::string shortest_text(double value) {
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

}  // namespace p2p::proto
