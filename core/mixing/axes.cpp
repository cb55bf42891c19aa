#include "core/mixing/axes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>
#include <utility>

#include "core/mixing/axis_call.hpp"

namespace p2p::core {

namespace {

// Each returns whether the value was one of the axis'; the axis is untouched where it was not.

bool set_partners(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    static const std::array<std::pair<std::string_view, Partners>, 11> kinds{{
        {"neighbours", Partners::neighbours},
        {"random", Partners::random},
        {"linked", Partners::linked},
        {"exponential", Partners::exponential},
        {"ring", Partners::ring},
        {"random-ring", Partners::random_ring},
        {"groups", Partners::groups},
        {"grid", Partners::grid},
        {"density", Partners::density},
        {"sites", Partners::sites},
        {"all", Partners::all},
    }};
    const auto* found = std::find_if(
        kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == call.name; });
    if (found == kinds.end()) return false;
    PartnerSpec spec{.kind = found->second};
    if (spec.kind == Partners::density) {
        spec.eigenvalue_max = call.number(0, 0.8);
        if (call.numbers.size() > 1 || call.is_all) return false;
        if (!(spec.eigenvalue_max > 0 && spec.eigenvalue_max < 1)) return false;
        recipe.partners = spec;
        return true;
    }
    const bool has_size = spec.kind == Partners::groups || spec.kind == Partners::grid;
    if (has_size && !call.is_all) {
        const auto size = as_count(call.number(0, 0), 2);
        if (!size) return false;
        spec.group_size = *size;
    }
    const std::size_t next = has_size && !call.is_all ? 1 : 0;
    const bool has_k = has_size || spec.kind == Partners::sites || spec.kind == Partners::all;
    if (call.numbers.size() > next + (has_k ? 1 : 0) || (call.is_all && !has_size)) return false;
    const auto k = as_count(call.number(next, 1), 1, 32);
    if (!k) return false;
    spec.peers_a_phase = *k;
    recipe.partners = spec;
    return true;
}

bool set_exchange(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    ExchangeSpec spec;
    if (call.name == "gather") {
        spec = {
            .kind = Exchange::gather, .feedback = call.number(0, 0.95), .rate = call.number(1, 1)};
        if (call.numbers.size() > 2 || !(spec.feedback >= 0 && spec.feedback <= 1)) return false;
        if (!(spec.rate > 0 && spec.rate <= 2)) return false;
    } else if (call.name == "push") {
        spec.kind = Exchange::push;
    } else if (call.name == "push-half") {
        spec.kind = Exchange::push_half;
    } else if (call.name != "swap") {
        return false;
    }
    if (spec.kind != Exchange::gather && !call.numbers.empty()) return false;
    recipe.exchange = spec;
    return true;
}

bool set_when(Recipe& recipe, const Call& call, std::uint32_t round_steps) {
    WhenSpec spec{.warmup_steps = recipe.when.warmup_steps};
    if (call.name == "continuous") {
        spec.kind = When::continuous;
        if (!call.numbers.empty()) return false;
    } else if (call.name == "every") {
        spec.kind = When::every;
        const auto steps = as_count(call.number(0, round_steps), 1);
        if (!steps || call.numbers.size() > 1) return false;
        spec.every_steps = *steps;
    } else if (call.name == "adaptive") {
        spec = {
            .kind = When::adaptive,
            .every_steps = round_steps,
            .warmup_steps = spec.warmup_steps,
            .distance_low = call.number(0, 0.005),
            .distance_high = call.number(1, 0.02)};
        if (call.numbers.size() > 2 || !(spec.distance_low > 0)) return false;
        if (!(spec.distance_high > spec.distance_low)) return false;
    } else if (call.name == "chance") {
        spec.kind = When::chance;
        spec.probability = call.number(0, 0);
        if (call.numbers.size() != 1) return false;
        if (!(spec.probability > 0 && spec.probability <= 1)) return false;
    } else {
        return false;
    }
    recipe.when = spec;
    return true;
}

bool set_warmup(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    const auto number = read_number(call.name);
    const auto steps = number ? as_count(*number, 0) : std::nullopt;
    if (!steps || !call.numbers.empty()) return false;
    recipe.when.warmup_steps = *steps;
    return true;
}

bool set_wait(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    WaitSpec spec;
    if (call.name == "round" && call.numbers.empty()) {
        spec.kind = Wait::round;
    } else if (call.name == "delay" && call.numbers.size() <= 1) {
        spec.kind = Wait::delay;
        const auto steps = as_count(call.number(0, 0), 0);
        if (!steps) return false;
        spec.delay_steps = *steps;
    } else if (call.name == "bounded" && call.numbers.size() == 2) {
        spec.kind = Wait::bounded;
        const auto low = as_count(call.numbers[0], 1);
        const auto high = as_count(call.numbers[1], 1);
        if (!low || !high || *high < *low) return false;
        spec.ahead_low = *low;
        spec.ahead_high = *high;
    } else if (call.name != "none" || !call.numbers.empty()) {
        return false;
    }
    recipe.wait = spec;
    return true;
}

bool set_shards(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    ShardSpec spec;
    if (call.name == "staggered") {
        const auto parts = as_count(call.number(0, 0), 2, 4096);
        if (!parts || call.numbers.size() != 1) return false;
        spec = {.kind = Shards::staggered, .parts = *parts};
    } else if (call.name == "ready" && call.numbers.empty()) {
        spec.kind = Shards::ready;
    } else if (call.name != "all" || !call.numbers.empty()) {
        return false;
    }
    recipe.shards = spec;
    return true;
}

bool set_work(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    if (call.name != "equal" && call.name != "by-speed") return false;
    recipe.work = call.name == "equal" ? WorkShare::equal : WorkShare::by_speed;
    return call.numbers.empty();
}

bool set_local(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    struct Kind {
        std::string_view name;
        Local kind;
        LocalSpec spec;
    };

    static const std::array<Kind, 6> kinds{{
        {"plain", Local::plain, {}},
        {"compensate", Local::compensate, {.kind = Local::compensate, .a = 0.2}},
        {"anchor", Local::anchor, {.kind = Local::anchor, .a = 0.05, .b = 0.1}},
        {"quasi-global", Local::quasi_global, {.kind = Local::quasi_global, .a = 0.9}},
        {"global-hint", Local::global_hint, {.kind = Local::global_hint, .a = 0.5}},
        {"predict", Local::predict, {.kind = Local::predict}},
    }};
    const auto* found = std::find_if(
        kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == call.name; });
    if (found == kinds.end()) return false;
    LocalSpec spec = found->spec;
    const std::size_t numbers = spec.kind == Local::anchor                                 ? 2
                                : spec.kind == Local::plain || spec.kind == Local::predict ? 0
                                                                                           : 1;
    if (call.numbers.size() > numbers) return false;
    spec.a = call.number(0, spec.a);
    spec.b = call.number(1, spec.b);
    // At 1 the gradient, or what is new of it, would have no weight; a hint would not fade.
    const bool is_share = spec.kind != Local::compensate;
    if (!(spec.a >= 0 && spec.b >= 0) || (is_share && spec.a >= 1)) return false;
    recipe.local = spec;
    return true;
}

bool set_outer(Recipe& recipe, const Call& call, std::uint32_t round_steps) {
    recipe.outer = {};
    if (call.name == "none") return call.numbers.empty();
    OuterSpec spec;
    if (call.name == "nesterov") {
        spec.kind = Outer::nesterov;
    } else if (call.name == "noloco") {
        spec.kind = Outer::noloco;
        spec.momentum = 0.5;
    }
    spec.rate = call.number(0, spec.rate);
    spec.momentum = call.number(1, spec.momentum);
    const auto steps = as_count(call.number(2, round_steps), 1);
    if (spec.kind == Outer::none || !steps || call.numbers.size() > 3) return false;
    if (!(spec.rate > 0 && spec.rate <= 100)) return false;
    if (!(spec.momentum >= 0 && spec.momentum < 1)) return false;
    spec.every_steps = *steps;
    recipe.outer = spec;
    return true;
}

bool set_finish(Recipe& recipe, const Call& call, std::uint32_t /*round_steps*/) {
    recipe.finish = call.name == "exact" ? Finish::exact : Finish::none;
    return (call.name == "exact" || call.name == "none") && call.numbers.empty();
}

struct Axis {
    std::string name;
    std::string values;
    bool (*set)(Recipe& recipe, const Call& call, std::uint32_t round_steps);
};

const std::vector<Axis>& axes() {
    static const std::vector<Axis> list{
        {"exchange", "swap, push, push-half, gather(feedback, rate)", set_exchange},
        {"partners",
         "neighbours, random, linked, exponential, ring, random-ring, density(eigenvalue), "
         "groups(size), groups(all), "
         "grid(side), sites, all; the last four also with the k of Base-(k+1): all(3)",
         set_partners},
        {"when",
         "continuous, every(H) with H >= 1, adaptive(low, high), chance(p) with 0 < p <= 1",
         set_when},
        {"warmup", "a number of steps: each of the first is mixed", set_warmup},
        {"wait", "none, round, delay, delay(steps), bounded(low, high)", set_wait},
        {"shards", "all, staggered(parts) with parts >= 2, ready", set_shards},
        {"work", "equal, by-speed", set_work},
        {"local",
         "plain, compensate(lambda), anchor(p, strength), quasi-global(mu), global-hint(beta), "
         "predict; p, mu and beta below 1",
         set_local},
        {"outer",
         "none, nesterov(rate, momentum, steps), noloco(rate, momentum, steps)",
         set_outer},
        {"finish", "exact, none", set_finish},
    };
    return list;
}

Error axis_error(const std::string& axis, const std::string& value, const std::string& known) {
    return {
        ErrorCode::invalid,
        "mixing." + axis + " = \"" + value + "\"",
        "this axis has no such value",
        "use one of: " + known};
}

Result<CodecId> read_codec(const std::string& value) {
    const auto codec = codec_from_name(value);
    if (!codec) {
        std::string known;
        for (const auto& entry : codec_names) {
            if (entry.id != CodecId::q4)
                known += (known.empty() ? "" : ", ") + std::string(entry.name);
        }
        return axis_error("codec", value, known);
    }
    if (*codec == CodecId::q4) {
        return Error{
            ErrorCode::invalid,
            "mixing.codec = \"q4\"",
            "whole parameters in 4 bits never come together: their rounding is larger than what "
            "replicas differ by",
            "use delta(q4), which sends what has changed"};
    }
    return *codec;
}

/// "delta(q4) *.bias=fp32": one for all, then those of layers.
Status set_codec(Recipe& recipe, const std::string& value) {
    std::istringstream words(value);
    std::string word;
    words >> word;
    const auto codec = read_codec(word);
    if (!codec) return codec.error();
    std::vector<LayerCodec> layers;
    while (words >> word) {
        const std::size_t sign = word.rfind('=');
        if (sign == std::string::npos || sign == 0) {
            return axis_error("codec", value, "a codec, then pattern=codec for tensors of a name");
        }
        const auto own = read_codec(word.substr(sign + 1));
        if (!own) return own.error();
        layers.push_back({.pattern = word.substr(0, sign), .codec = *own});
    }
    recipe.codec = *codec;
    recipe.is_codec_steered = false;
    recipe.layer_codecs = std::move(layers);
    return {};
}

Status set_guard(Recipe& recipe, const std::string& value) {
    GuardSpec guard{.finite = false, .norm_ratio = 0};
    std::string_view rest = value;
    while (!rest.empty()) {
        const std::string part(rest.substr(0, rest.find('+')));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        const auto call = read_call(part);
        const std::string name = call ? call->name : "";
        if (name == "finite" && call->numbers.empty()) {
            guard.finite = true;
        } else if (name == "norm" && call->number(0, 10) > 1) {
            guard.finite = true;
            guard.norm_ratio = call->number(0, 10);
        } else if (name == "clip" && call->numbers.size() == 1 && call->numbers[0] > 0) {
            guard.finite = true;
            guard.clip_ratio = call->numbers[0];
        } else if (name == "descent" && call->numbers.empty()) {
            guard.finite = true;
            guard.descent = true;
        } else {
            return axis_error(
                "guard",
                value,
                "finite, norm(ratio) with ratio > 1, clip(tau) with tau > 0, descent, joined by +");
        }
    }
    recipe.guard = guard;
    return {};
}

}  // namespace

Status set_axis(
    Recipe& recipe, const std::string& axis, const std::string& value, std::uint32_t round_steps) {
    if (axis == "codec") return set_codec(recipe, value);
    if (axis == "guard") return set_guard(recipe, value);
    const auto found = std::find_if(
        axes().begin(), axes().end(), [&](const Axis& each) { return each.name == axis; });
    if (found == axes().end()) {
        std::string known;
        for (const std::string& name : axis_names())
            known += (known.empty() ? "" : ", ") + name;
        return Error{
            ErrorCode::invalid, "mixing." + axis, "there is no such axis", "the axes are " + known};
    }
    const auto call = read_call(value);
    Recipe changed = recipe;
    if (!call || !found->set(changed, *call, round_steps)) {
        return axis_error(axis, value, found->values);
    }
    recipe = std::move(changed);
    return {};
}

const std::vector<std::string>& axis_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const Axis& axis : axes())
            list.push_back(axis.name);
        list.insert(list.end() - 1, {"codec", "guard"});
        return list;
    }();
    return names;
}

}  // namespace p2p::core
