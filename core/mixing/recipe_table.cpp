// The recipes that go by a name: each a row of axis values, with its source and what it may claim
// (design: MIXING, "Recipes and where they come from").

#include <utility>

#include "core/base/check.hpp"
#include "core/mixing/axes.hpp"

namespace p2p::core {

namespace {

struct Row {
    std::string_view name;
    std::vector<std::pair<std::string, std::string>> axes;  // over a random partner, continuous
    Fidelity fidelity;
    std::string_view source;
    std::string_view note{};
};

constexpr std::string_view late_mean =
    "a fresh gradient and a late mean, where the paper has a stale gradient and an atomic mean";

std::vector<Row> overlapping_rows() {
    return {
        {"auto",
         {{"partners", "linked"}, {"codec", "delta(q4)"}, {"outer", "nesterov(0.7,0.8,16)"}},
         Fidelity::ours,
         "p2ptrain",
         "links, codec and outer momentum follow what is measured"},
        {"ad-psgd", {}, Fidelity::adapted, "Lian et al. 2018, arXiv:1710.06952", late_mean},
        {"moniqua",
         {{"codec", "modulo(1)"}},
         Fidelity::adapted,
         "Lu, De Sa 2020, arXiv:2002.11787",
         late_mean},
        {"gasloc",
         {{"when", "every"}, {"outer", "nesterov"}},
         Fidelity::published,
         "Cagnasso et al. 2026"},
        {"clipped",
         {{"partners", "neighbours"}, {"guard", "finite+clip(0.05)"}},
         Fidelity::adapted,
         "He, Karimireddy, Jaggi 2022, arXiv:2202.01545",
         "clipped at both ends alike, so the mean is conserved"},
    };
}

std::vector<Row> pushed_rows() {
    const std::pair<std::string, std::string> push{"exchange", "push"};
    const std::pair<std::string, std::string> halves{"exchange", "push-half"};
    return {
        {"layup",
         {push, {"when", "every(1)"}, {"shards", "ready"}},
         Fidelity::adapted,
         "Fokam et al. 2024",
         "a step's layers are pushed when the step is over, the last layer first"},
        {"gossiping",
         {halves, {"when", "chance(0.1)"}},
         Fidelity::published,
         "Jin et al. 2016, arXiv:1611.04581",
         "its push"},
        {"asgd",
         {halves, {"when", "every(1)"}, {"guard", "finite+descent"}},
         Fidelity::adapted,
         "Keuper, Pfreundt 2015, arXiv:1505.04956",
         "what arrives meets the replica of that moment, one push after the other"},
        {"sparse-loco",
         {{"exchange", "gather(0.95,1)"},
          {"partners", "all"},
          {"when", "every(30)"},
          {"wait", "round"},
          {"codec", "delta(topk(64))"}},
         Fidelity::published,
         "Sarfi et al. 2025, arXiv:2508.15706"},
    };
}

std::vector<Row> neighbour_rows() {
    const std::pair<std::string, std::string> neighbours{"partners", "neighbours"};
    return {
        {"d-psgd",
         {neighbours, {"when", "every(1)"}, {"wait", "delay"}},
         Fidelity::published,
         "Lian et al. 2017, arXiv:1705.09056"},
        {"self-adjusting",
         {neighbours, {"when", "every(1)"}, {"wait", "delay"}},
         Fidelity::published,
         "Zhang et al. 2021, arXiv:2112.00920",
         "another name of d-psgd"},
        {"random-ring",
         {{"partners", "random-ring"}, {"when", "every(1)"}, {"wait", "round"}},
         Fidelity::published,
         "Cui et al. 2021"},
        {"delayed",
         {neighbours, {"when", "every"}, {"wait", "delay"}},
         Fidelity::published,
         "Zhou et al. 2026"},
        {"choco",
         {neighbours, {"when", "every(1)"}, {"wait", "round"}, {"codec", "delta(topk)"}},
         Fidelity::published,
         "Koloskova et al. 2019, arXiv:1902.00340",
         "references a link, not a node"},
        {"quasi-global",
         {neighbours, {"when", "every(1)"}, {"wait", "round"}, {"local", "quasi-global"}},
         Fidelity::published,
         "Lin et al. 2021, arXiv:2102.04761"},
        {"dc-s3gd",
         {{"partners", "all"}, {"when", "every(1)"}, {"wait", "delay"}, {"local", "compensate"}},
         Fidelity::adapted,
         "Rigazzi 2019, arXiv:1911.02516",
         "what is stale is the merge, not the gradient"},
        {"dc-asgd",
         {neighbours, {"when", "every"}, {"wait", "delay"}, {"local", "compensate"}},
         Fidelity::adapted,
         "Zheng et al. 2017, arXiv:1609.08326",
         "what is stale is the merge, not the gradient"},
        {"density",
         {{"partners", "density(0.8)"}, {"when", "every(1)"}, {"wait", "delay"}},
         Fidelity::adapted,
         "Sato, Sugiura 2020",
         "a link's cost is whether it leaves the site, not its radio rate"},
        {"dssp",
         {neighbours, {"when", "every(1)"}, {"wait", "bounded(3,15)"}},
         Fidelity::adapted,
         "Zhao et al. 2019, arXiv:1908.11848",
         "neighbours for the server"},
        {"consensus-control",
         {neighbours, {"when", "adaptive"}, {"wait", "round"}},
         Fidelity::published,
         "Kong et al. 2021, arXiv:2102.04828"},
    };
}

std::vector<Row> exact_rows() {
    const std::pair<std::string, std::string> all{"partners", "all"};
    const std::pair<std::string, std::string> each{"when", "every(1)"};
    const std::pair<std::string, std::string> rounds{"when", "every"};
    const std::pair<std::string, std::string> waits{"wait", "round"};
    return {
        {"delay-by-one",
         {all, each, {"wait", "delay"}},
         Fidelity::published,
         "Zhang et al. 2020, arXiv:2002.01119"},
        {"h-ad-psgd",
         {{"partners", "sites"}, each, waits},
         Fidelity::adapted,
         "Zhang et al. 2019, arXiv:1904.04956",
         late_mean},
        {"old-sgd", {all, rounds, {"wait", "delay"}}, Fidelity::published, "Zhou et al. 2026"},
        {"cocod-sgd",
         {all, rounds, {"wait", "delay"}, {"work", "by-speed"}},
         Fidelity::published,
         "Shen et al. 2019, arXiv:1906.12043"},
        {"da-sgd",
         {all, rounds, {"wait", "delay"}},
         Fidelity::published,
         "Zhou et al. 2020, arXiv:2006.00441"},
        {"od-sgd",
         {all, each, {"wait", "delay"}},
         Fidelity::published,
         "Xu et al. 2020",
         "own late step on the global weights: what a displacement gives, too"},
        {"hp-sgd", {all, rounds, {"wait", "delay"}}, Fidelity::published, "Zhou et al. 2020"},
        {"ssd-sgd",
         {all, {"when", "every(4)"}, {"warmup", "200"}, waits, {"local", "global-hint"}},
         Fidelity::adapted,
         "Xu et al. 2020, arXiv:2012.05396",
         "the hint bends where gradients are taken, not the weights"},
        {"hybrid",
         {{"partners", "sites"}, each, waits, {"work", "by-speed"}},
         Fidelity::adapted,
         "Zhang et al. 2019",
         late_mean},
        {"dream-ddp",
         {all, rounds, waits, {"shards", "staggered(4)"}},
         Fidelity::published,
         "Tang et al. 2025, arXiv:2502.11058"},
    };
}

std::vector<Row> group_rows() {
    const std::pair<std::string, std::string> all{"partners", "all"};
    const std::pair<std::string, std::string> each{"when", "every(1)"};
    const std::pair<std::string, std::string> rounds{"when", "every"};
    const std::pair<std::string, std::string> waits{"wait", "round"};
    return {
        {"palsgd",
         {all, rounds, waits, {"outer", "nesterov"}, {"local", "anchor"}},
         Fidelity::published,
         "Naganuma et al. 2025, arXiv:2504.18454"},
        {"biased-local",
         {all, rounds, waits, {"work", "by-speed"}},
         Fidelity::adapted,
         "Lim et al. 2025",
         "no sampling by loss"},
        {"adaptive-period",
         {all, {"when", "adaptive"}, waits},
         Fidelity::published,
         "Jiang, Agrawal 2020, arXiv:2007.06134"},
        {"prague",
         {{"partners", "groups(4)"}, rounds, waits},
         Fidelity::published,
         "Luo et al. 2020, arXiv:1909.08029"},
        {"diloco",
         {all, rounds, waits, {"outer", "nesterov"}},
         Fidelity::published,
         "Douillard et al. 2023, arXiv:2311.08105"},
        {"noloco",
         {{"partners", "groups(2)"}, rounds, waits, {"outer", "noloco"}},
         Fidelity::adapted,
         "Kolehmainen et al. 2025, arXiv:2506.10911",
         "the pull between the outer models weighs as much as the outer rate"},
        {"moshpit",
         {{"partners", "grid(2)"}, rounds, waits},
         Fidelity::published,
         "Ryabinin et al. 2021, arXiv:2103.03239"},
        {"base-k",
         {{"partners", "all(1)"}, each, waits},
         Fidelity::published,
         "Takezawa et al. 2023, arXiv:2305.11420",
         "the whole sequence in each round"},
        {"exponential",
         {{"partners", "exponential"}, each, waits},
         Fidelity::published,
         "Ying et al. 2021, arXiv:2110.13363"},
    };
}

RecipeRow make_row(const Row& row, std::uint32_t round_steps) {
    Recipe recipe;
    recipe.name = row.name;
    for (const auto& [axis, value] : row.axes) {
        const Status status = set_axis(recipe, axis, value, round_steps);
        P2P_CHECK(status.is_ok());
    }
    recipe.is_steered = row.name == "auto";
    recipe.is_codec_steered = recipe.is_steered;
    return {
        .recipe = std::move(recipe),
        .fidelity = row.fidelity,
        .source = std::string(row.source),
        .note = std::string(row.note)};
}

}  // namespace

std::vector<RecipeRow> recipe_rows(std::uint32_t round_steps) {
    std::vector<RecipeRow> rows;
    for (const auto& part :
         {overlapping_rows(), pushed_rows(), neighbour_rows(), exact_rows(), group_rows()}) {
        for (const Row& row : part)
            rows.push_back(make_row(row, round_steps));
    }
    return rows;
}

}  // namespace p2p::core
