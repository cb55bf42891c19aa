#include "core/mixing/recipe.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace p2p::core {

namespace {

// Sources: d-psgd Lian et al. 2017 (arXiv:1705.09056), ad-psgd Lian et al. 2018 (arXiv:1710.06952).
const std::array<Recipe, 2>& recipe_table() {
    static const std::array<Recipe, 2> table{{
        {.name = "ad-psgd",
         .partners = Partners::random,
         .when = When::continuous,
         .every_steps = 1,
         .wait = Wait::none,
         .codec = CodecId::fp32,
         .guard = {},
         .finish = Finish::exact},
        {.name = "d-psgd",
         .partners = Partners::neighbours,
         .when = When::every,
         .every_steps = 1,
         .wait = Wait::delay,
         .codec = CodecId::fp32,
         .guard = {},
         .finish = Finish::exact},
    }};
    return table;
}

Error axis_error(const std::string& axis, const std::string& value, const std::string& known) {
    return {
        ErrorCode::invalid,
        "mixing." + axis + " = \"" + value + "\"",
        "this axis has no such value",
        "use one of: " + known};
}

/// "name(inside)" -> inside; "name" -> ""; nothing where `text` is neither.
std::optional<std::string> argument_of(std::string_view text, std::string_view name) {
    if (!text.starts_with(name)) return std::nullopt;
    text.remove_prefix(name.size());
    if (text.empty()) return std::string{};
    if (text.size() < 3 || text.front() != '(' || text.back() != ')') return std::nullopt;
    return std::string(text.substr(1, text.size() - 2));
}

template <typename Number>
std::optional<Number> read_number(const std::string& text) {
    Number number{};
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return number;
}

Status set_partners(Recipe& recipe, const std::string& value) {
    if (value == "neighbours") {
        recipe.partners = Partners::neighbours;
    } else if (value == "random") {
        recipe.partners = Partners::random;
    } else {
        return axis_error("partners", value, "neighbours, random");
    }
    return {};
}

Status set_when(Recipe& recipe, const std::string& value, std::uint32_t round_steps) {
    if (value == "continuous") {
        recipe.when = When::continuous;
        recipe.every_steps = 1;
        return {};
    }
    const auto inside = argument_of(value, "every");
    const auto steps = !inside           ? std::nullopt
                       : inside->empty() ? std::optional<std::uint32_t>(round_steps)
                                         : read_number<std::uint32_t>(*inside);
    if (!steps || *steps == 0) return axis_error("when", value, "continuous, every(H) with H >= 1");
    recipe.when = When::every;
    recipe.every_steps = *steps;
    return {};
}

Status set_wait(Recipe& recipe, const std::string& value) {
    if (value == "none") {
        recipe.wait = Wait::none;
    } else if (value == "round") {
        recipe.wait = Wait::round;
    } else if (value == "delay(1)" || value == "delay") {
        recipe.wait = Wait::delay;
    } else {
        return axis_error("wait", value, "none, round, delay(1)");
    }
    return {};
}

Status set_codec(Recipe& recipe, const std::string& value) {
    const auto codec = codec_from_name(value);
    if (!codec) return axis_error("codec", value, "fp32, bf16, q8, delta(q8), delta(q4)");
    if (*codec == CodecId::q4) {
        return Error{
            ErrorCode::invalid,
            "mixing.codec = \"q4\"",
            "whole parameters in 4 bits never come together: their rounding is larger than what "
            "replicas differ by",
            "use delta(q4), which sends what has changed"};
    }
    recipe.codec = *codec;
    return {};
}

Status set_guard(Recipe& recipe, const std::string& value) {
    GuardSpec guard{.finite = false, .norm_ratio = 0};
    std::string_view rest = value;
    while (!rest.empty()) {
        const std::string part(rest.substr(0, rest.find('+')));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (part == "finite") {
            guard.finite = true;
            continue;
        }
        const auto inside = argument_of(part, "norm");
        const auto ratio = !inside           ? std::nullopt
                           : inside->empty() ? std::optional<double>(10)
                                             : read_number<double>(*inside);
        if (!ratio || !(*ratio > 1)) {
            return axis_error("guard", value, "finite, norm(ratio) with ratio > 1, both by +");
        }
        guard.finite = true;
        guard.norm_ratio = *ratio;
    }
    recipe.guard = guard;
    return {};
}

Status set_finish(Recipe& recipe, const std::string& value) {
    if (value != "exact" && value != "none") return axis_error("finish", value, "exact, none");
    recipe.finish = value == "exact" ? Finish::exact : Finish::none;
    return {};
}

Status set_axis(
    Recipe& recipe, const std::string& axis, const std::string& value, std::uint32_t round_steps) {
    if (axis == "partners") return set_partners(recipe, value);
    if (axis == "when") return set_when(recipe, value, round_steps);
    if (axis == "wait") return set_wait(recipe, value);
    if (axis == "codec") return set_codec(recipe, value);
    if (axis == "guard") return set_guard(recipe, value);
    if (axis == "finish") return set_finish(recipe, value);
    return Error{
        ErrorCode::invalid,
        "mixing." + axis,
        "there is no such axis",
        "the axes are partners, when, wait, codec, guard, finish"};
}

Status check_combination(const Recipe& recipe) {
    if (recipe.wait == Wait::none) return {};
    if (recipe.when == When::continuous) {
        return Error{
            ErrorCode::invalid,
            "mixing.wait with when = \"continuous\"",
            "continuous mixing has no rounds that could be waited for",
            "set mixing.when = \"every(H)\", or mixing.wait = \"none\""};
    }
    if (recipe.partners == Partners::random) {
        return Error{
            ErrorCode::invalid,
            "mixing.wait with partners = \"random\"",
            "a partner drawn by one end only would make the other wait for a round that is not its",
            "set mixing.partners = \"neighbours\", or mixing.wait = \"none\""};
    }
    return {};
}

std::string guard_text(const GuardSpec& guard) {
    if (!guard.finite && guard.norm_ratio == 0) return "no guard";
    std::string text = "guard finite";
    if (guard.norm_ratio > 0) {
        text += "+norm(" + std::to_string(static_cast<long>(guard.norm_ratio)) + ")";
    }
    return text;
}

}  // namespace

std::string Recipe::text() const {
    std::string line = name + ": ";
    line += partners == Partners::random ? "a random partner" : "all neighbours";
    line += when == When::continuous ? ", continuous"
                                     : ", every " + std::to_string(every_steps) + " steps";
    line += wait == Wait::none    ? ", no waiting"
            : wait == Wait::round ? ", waits for the round"
                                  : ", waits one round late";
    line += ", " + std::string(codec_name(codec)) + ", " + guard_text(guard);
    return line;
}

Result<Recipe> resolve_recipe(
    const std::string& name,
    const std::map<std::string, std::string>& axes,
    std::uint32_t round_steps) {
    std::string known;
    for (const Recipe& row : recipe_table()) {
        known += (known.empty() ? "" : ", ") + row.name;
        if (row.name != name) continue;

        Recipe recipe = row;
        for (const auto& [axis, value] : axes) {
            const Status status = set_axis(recipe, axis, value, round_steps);
            if (!status) return status.error();
        }
        const Status status = check_combination(recipe);
        if (!status) return status.error();
        return recipe;
    }
    return Error{
        ErrorCode::invalid,
        "mixing.recipe = \"" + name + "\"",
        "there is no such recipe",
        "use one of: " + known};
}

std::vector<std::string> recipe_names() {
    std::vector<std::string> names;
    for (const Recipe& row : recipe_table())
        names.push_back(row.name);
    return names;
}

}  // namespace p2p::core
