#include "core/mixing/recipe.hpp"

#include <cmath>
#include <cstdio>

#include "core/mixing/axes.hpp"

namespace p2p::core {

namespace {

Error clash(const std::string& what, const std::string& why, const std::string& next) {
    return {ErrorCode::invalid, "mixing." + what, why, next};
}

Status check_rounds(const Recipe& recipe) {
    const bool draws_alone =
        recipe.partners.kind == Partners::random || recipe.partners.kind == Partners::linked;
    if (recipe.has_rounds() && recipe.when.kind == When::continuous) {
        return clash(
            "wait with when = \"continuous\"",
            "continuous mixing has no rounds that could be waited for",
            "set mixing.when = \"every(H)\", or mixing.wait = \"none\"");
    }
    if (recipe.has_rounds() && draws_alone) {
        return clash(
            "wait with partners = \"random\" or \"linked\"",
            "a partner drawn by one end only would make the other wait for a round that is not its",
            "set mixing.partners to one that all members agree on (exponential, ring, groups), or "
            "mixing.wait = \"none\"");
    }
    if (recipe.is_exact() && recipe.swaps() && !recipe.has_rounds()) {
        return clash(
            "partners = \"groups\", \"grid\", \"sites\" or \"all\" with wait = \"none\"",
            "an exact average is a sequence of swaps, each from where the one before it led",
            "set mixing.wait = \"round\" or \"delay\", or partners = \"neighbours\"");
    }
    if (recipe.is_scheduled() && recipe.when.kind == When::continuous) {
        return clash(
            "when = \"continuous\" with partners of a schedule",
            "a schedule says whom to meet in which round, and rounds have a number of steps",
            "set mixing.when = \"every(H)\"");
    }
    const bool hears_all = recipe.partners.kind == Partners::neighbours && recipe.swaps();
    if (recipe.wait.kind == Wait::bounded && !hears_all) {
        return clash(
            "wait = \"bounded\" with other partners than \"neighbours\"",
            "how far others are is heard in swaps, and must be heard of all",
            "set mixing.partners = \"neighbours\"");
    }
    if (recipe.wait.kind == Wait::bounded && recipe.when.kind == When::continuous) {
        return clash(
            "wait = \"bounded\" with when = \"continuous\"",
            "being ahead is counted in rounds of H steps",
            "set mixing.when = \"every(H)\"");
    }
    const std::uint32_t steps = recipe.when.every_steps;
    if (recipe.wait.kind == Wait::delay && recipe.wait.delay_steps > steps) {
        return clash(
            "wait = \"delay(" + std::to_string(recipe.wait.delay_steps) + ")\" with when = \"every("
                + std::to_string(steps) + ")\"",
            "the next round would open before this one is merged",
            "use a delay of at most H steps");
    }
    return {};
}

Status check_outer(const Recipe& recipe) {
    if (recipe.outer.kind == Outer::none) {
        if (recipe.local.kind != Local::anchor) return {};
        return clash(
            "local = \"anchor\" with outer = \"none\"",
            "there is no anchor without an outer step",
            "set mixing.outer = \"nesterov\"");
    }
    if (recipe.wait.kind == Wait::delay) {
        return clash(
            "outer with wait = \"delay\"",
            "the outer step would be taken on a replica that has gone on",
            "set mixing.wait = \"round\" or \"none\"");
    }
    if (recipe.outer.kind == Outer::noloco && recipe.has_rounds()
        && recipe.partners.kind != Partners::exponential
        && recipe.partners.kind != Partners::groups) {
        return clash(
            "outer = \"noloco\"",
            "its pull is between the two of a pair",
            "set mixing.partners = \"groups(2)\", \"exponential\" or \"random\"");
    }
    return {};
}

Status check_local(const Recipe& recipe) {
    if (recipe.local.kind != Local::compensate || recipe.wait.kind != Wait::round) return {};
    return clash(
        "local = \"compensate\" with wait = \"round\"",
        "nothing arrives late where no step is taken meanwhile",
        "set mixing.wait = \"delay\" or \"none\", or local = \"plain\"");
}

/// What a push or a gathered update can be coded in: nothing that builds on the other end's value.
bool can_push(const Recipe& recipe) {
    if (recipe.exchange.kind == Exchange::gather) return modulo_bits(recipe.codec) == 0;
    return !has_keyframe(recipe.codec);
}

Status check_gather(const Recipe& recipe) {
    if (recipe.partners.kind == Partners::all && recipe.when.kind == When::every
        && recipe.shards.kind == Shards::all && recipe.outer.kind == Outer::none) {
        return {};
    }
    return clash(
        "exchange = \"gather\"",
        "each update goes to all, in rounds of all shards, and its outer step is plain",
        "set mixing.partners = \"all\", when = \"every(H)\", shards = \"all\", outer = \"none\"");
}

Status check_exchange(const Recipe& recipe) {
    if (recipe.swaps()) {
        if (recipe.when.kind != When::chance && !recipe.guard.descent) return {};
        return clash(
            recipe.guard.descent ? "guard = \"descent\"" : "when = \"chance\"",
            "both ends of a swap move by the same, and one of them would judge or draw alone",
            "set mixing.exchange = \"push\" or \"push-half\"");
    }
    if (!recipe.layer_codecs.empty()) {
        return clash(
            "codecs by layer with what is pushed",
            "a push has one codec for all",
            "name one codec in mixing.codec, or set mixing.exchange = \"swap\"");
    }
    if (!can_push(recipe)) {
        return clash(
            "codec = \"" + std::string(codec_name(recipe.codec)) + "\" with what is pushed",
            "it builds on a value that only the two ends of a swap share",
            "use fp32, bf16, fp16 or q8, or mixing.exchange = \"swap\"");
    }
    if (recipe.guard.clip_ratio > 0) {
        return clash(
            "guard = \"clip\" with what is pushed",
            "a clipped push would lose the weight that goes with it",
            "use finite, norm(ratio) or descent");
    }
    if (recipe.exchange.kind == Exchange::gather) return check_gather(recipe);
    const bool is_drawn = recipe.partners.kind == Partners::random && !recipe.has_rounds()
                          && recipe.outer.kind == Outer::none;
    const bool is_timed = recipe.when.kind == When::every || recipe.when.kind == When::chance;
    if (is_drawn && is_timed) return {};
    return clash(
        "exchange = \"push\"",
        "a push goes to one node that the sender draws, which waits for nothing and takes no outer "
        "step",
        "set mixing.partners = \"random\", when = \"every(H)\" or \"chance(p)\", wait = \"none\", "
        "outer = \"none\"");
}

Status check_guard(const Recipe& recipe) {
    if (recipe.guard.clip_ratio == 0 || !recipe.is_exact() || !recipe.swaps()) return {};
    return clash(
        "guard = \"clip\" with an exact average",
        "a clipped swap does not average",
        "set mixing.partners = \"neighbours\" or \"random\"");
}

std::string number_text(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
}

std::string exchange_text(const ExchangeSpec& spec) {
    switch (spec.kind) {
        case Exchange::swap: return {};
        case Exchange::push: return "pushed with push-sum to ";
        case Exchange::push_half: return "pushed by halves to ";
        case Exchange::gather:
            return "updates gathered (feedback " + number_text(spec.feedback) + ", rate "
                   + number_text(spec.rate) + ") by ";
    }
    return {};
}

std::string partners_text(const PartnerSpec& spec) {
    const std::string size = spec.group_size == 0 ? "all" : std::to_string(spec.group_size);
    switch (spec.kind) {
        case Partners::neighbours: return "all neighbours";
        case Partners::random: return "a random partner";
        case Partners::linked: return "a partner by reward";
        case Partners::exponential: return "one-peer exponential";
        case Partners::ring: return "ring";
        case Partners::random_ring: return "random ring";
        case Partners::groups: return "groups of " + size;
        case Partners::grid: return "groups on a grid of side " + size;
        case Partners::density:
            return "a sparse graph (eigenvalue " + number_text(spec.eigenvalue_max) + ")";
        case Partners::sites: return "exact in the site, a speaker across";
        case Partners::all: return "all members, exact";
    }
    return {};
}

std::string when_text(const WhenSpec& spec) {
    std::string text;
    switch (spec.kind) {
        case When::continuous: text = "continuous"; break;
        case When::every: text = "every " + std::to_string(spec.every_steps) + " steps"; break;
        case When::adaptive:
            text = "distance kept in " + number_text(spec.distance_low) + " to "
                   + number_text(spec.distance_high);
            break;
        case When::chance:
            text = "after a step with probability " + number_text(spec.probability);
            break;
    }
    if (spec.warmup_steps > 0) text += " after " + std::to_string(spec.warmup_steps) + " of each";
    return text;
}

std::string wait_text(const WaitSpec& spec) {
    switch (spec.kind) {
        case Wait::none: return "no waiting";
        case Wait::round: return "waits for the round";
        case Wait::bounded:
            return "at most " + std::to_string(spec.ahead_low) + " to "
                   + std::to_string(spec.ahead_high) + " rounds ahead";
        case Wait::delay:
            return spec.delay_steps == 0
                       ? "waits one round late"
                       : "waits " + std::to_string(spec.delay_steps) + " steps late";
    }
    return {};
}

std::string local_text(const LocalSpec& spec) {
    switch (spec.kind) {
        case Local::plain: return {};
        case Local::compensate: return ", compensated by " + number_text(spec.a);
        case Local::anchor:
            return ", anchored with p " + number_text(spec.a) + ", strength " + number_text(spec.b);
        case Local::quasi_global: return ", quasi-global momentum " + number_text(spec.a);
        case Local::global_hint: return ", global hint " + number_text(spec.a);
        case Local::predict: return ", predicted";
    }
    return {};
}

std::string outer_text(const OuterSpec& spec) {
    if (spec.kind == Outer::none) return {};
    const std::string numbers = number_text(spec.rate) + ", momentum " + number_text(spec.momentum);
    return (spec.kind == Outer::nesterov ? ", outer Nesterov at " : ", outer NoLoCo at ") + numbers;
}

std::string guard_text(const GuardSpec& guard) {
    if (!guard.finite && guard.norm_ratio == 0) return "no guard";
    std::string text = "guard finite";
    if (guard.norm_ratio > 0) text += "+norm(" + number_text(guard.norm_ratio) + ")";
    if (guard.descent) text += "+descent";
    if (guard.clip_ratio > 0) text += "+clip(" + number_text(guard.clip_ratio) + ")";
    return text;
}

}  // namespace

Status check_combination(const Recipe& recipe) {
    if (Status status = check_exchange(recipe); !status) return status;
    if (Status status = check_rounds(recipe); !status) return status;
    if (Status status = check_outer(recipe); !status) return status;
    if (Status status = check_local(recipe); !status) return status;
    return check_guard(recipe);
}

bool LayerCodec::fits(const std::string& name) const {
    // Each star first stands for nothing; where the rest does not fit, the last one for one more.
    std::size_t at = 0;
    std::size_t star = std::string::npos;
    std::size_t taken = 0;  // letters of the name before what the last star stands for ends
    for (std::size_t i = 0; i < name.size();) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = i;
        } else if (at < pattern.size() && pattern[at] == name[i]) {
            ++at;
            ++i;
        } else if (star != std::string::npos) {
            at = star + 1;
            i = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string::npos;
}

std::optional<CodecId> Recipe::layer_codec(const std::string& tensor) const {
    for (const LayerCodec& each : layer_codecs)
        if (each.fits(tensor)) return each.codec;
    return std::nullopt;
}

std::string Recipe::text() const {
    std::string line = name + ": " + exchange_text(exchange) + partners_text(partners) + ", "
                       + when_text(when) + ", " + wait_text(wait);
    if (shards.kind == Shards::staggered) {
        line += ", shards in " + std::to_string(shards.parts) + " parts";
    }
    if (shards.kind == Shards::ready) line += ", each layer by itself";
    if (work == WorkShare::by_speed) line += ", work by speed";
    line += local_text(local) + outer_text(outer);
    const std::string one(is_codec_steered ? "codec" : codec_name(codec));
    line += ", " + one
            + (is_codec_steered ? " and rate steered"
               : is_steered     ? ", rate steered"
                                : "");
    for (const LayerCodec& each : layer_codecs)
        line += ", " + std::string(codec_name(each.codec)) + " of " + each.pattern;
    return line + ", " + guard_text(guard);
}

Result<Recipe> resolve_recipe(
    const std::string& name,
    const std::map<std::string, std::string>& axes,
    std::uint32_t round_steps) {
    std::string known;
    for (const RecipeRow& row : recipe_rows(round_steps)) {
        known += (known.empty() ? "" : ", ") + row.recipe.name;
        if (row.recipe.name != name) continue;

        Recipe recipe = row.recipe;
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
    for (const RecipeRow& row : recipe_rows(1))
        names.push_back(row.recipe.name);
    return names;
}

std::string_view fidelity_name(Fidelity fidelity) {
    switch (fidelity) {
        case Fidelity::published: return "published";
        case Fidelity::adapted: return "adapted";
        case Fidelity::ours: return "ours";
        case Fidelity::control: return "control";
    }
    return "unknown";
}

}  // namespace p2p::core
