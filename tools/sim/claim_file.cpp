#include "tools/sim/claim_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/data/file.hpp"
#include "proto/toml.hpp"
#include "tools/sim/toml_keys.hpp"

namespace p2p::sim {

using core::Error;
using core::ErrorCode;
using core::Result;
using core::Status;
using proto::TomlArray;
using proto::TomlTable;
using proto::TomlValue;

namespace {

constexpr std::size_t claim_bytes_max = core::mib;
constexpr std::size_t tries_max = 3;  // its own, and two constants
constexpr std::array<double, 5> rates_usual{0.5, 1, 2, 4, 8};

constexpr std::array<std::pair<std::string_view, Measure>, 5> measures{{
    {"loss", Measure::loss},
    {"loss-at-bytes", Measure::loss_at_bytes},
    {"time", Measure::time},
    {"bytes", Measure::bytes},
    {"accuracy", Measure::accuracy},
}};

TomlKey bool_key(std::string_view name, bool& out) {
    return {name, "true or false", [&out](const TomlValue& value) {
                const auto* given = value.get<bool>();
                if (given != nullptr) out = *given;
                return given != nullptr;
            }};
}

bool read_numbers(const TomlValue& value, std::vector<double>& out) {
    const auto* array = value.get<TomlArray>();
    if (array == nullptr || array->empty()) return false;
    out.clear();
    for (const TomlValue& each : *array) {
        const auto number = toml_number(each);
        if (!number || !(*number > 0 && *number <= 1000)) return false;
        out.push_back(*number);
    }
    return true;
}

TomlKey rates_key(std::string_view name, std::vector<double>& out) {
    return {name, "a list of numbers above 0", [&out](const TomlValue& value) {
                return read_numbers(value, out);
            }};
}

bool read_axes(const TomlValue& value, Settings& out) {
    const auto* array = value.get<TomlArray>();
    if (array == nullptr) return false;
    std::vector<std::string> given;
    for (const TomlValue& each : *array) {
        const auto* text = each.get<std::string>();
        if (text == nullptr) return false;
        given.push_back(*text);
    }
    const auto settings = read_settings(given);
    if (settings) out = *settings;
    return settings.has_value();
}

TomlKey axes_key(std::string_view name, Settings& out) {
    return {name, "a list of strings like \"codec=q8\"", [&out](const TomlValue& value) {
                return read_axes(value, out);
            }};
}

/// Reads one file.
class ClaimReader {
  public:
    explicit ClaimReader(std::string file)
        : file_(std::move(file)) {}

    Result<Claim> read(const TomlTable& root) {
        claim_.name = std::filesystem::path(file_).stem().string();
        claim_.recipe.rates.assign(rates_usual.begin(), rates_usual.end());
        claim_.baseline.rates = claim_.recipe.rates;
        std::string schema;
        double links = 0;
        const Status status = read_toml_keys(
            file_,
            root,
            {text_key("schema", schema),
             text_key("claim", claim_.sentence),
             text_key("source", claim_.source),
             text_key("stage", claim_.stage),
             measure_key(),
             number_key("bound", claim_.bound, -1e6, 1e6),
             number_key("links", links, 0, 1000),
             expected_key(),
             text_key("why", claim_.why),
             table_key("target", [this](const TomlTable& table) { return read_target(table); }),
             table_key(
                 "recipe", [this](const TomlTable& t) { return read_side(t, claim_.recipe); }),
             table_key(
                 "baseline", [this](const TomlTable& t) { return read_side(t, claim_.baseline); }),
             table_key("small", [this](const TomlTable& table) { return read_small(table); })});
        if (inner_) return *inner_;
        if (!status) return status.error();
        if (schema != "p2psim.claim/1") return fault(root, "schema is not \"p2psim.claim/1\"");
        if (auto whole = check(root); !whole) return whole.error();
        claim_.links = static_cast<std::size_t>(links);
        if (!is_small_expected_) claim_.is_expected_small = claim_.is_expected;
        return std::move(claim_);
    }

  private:
    using ReadTable = std::function<Status(const TomlTable&)>;

    [[nodiscard]] Error fault(const TomlTable& table, std::string why) const {
        return toml_fault(file_, table.place, std::move(why));
    }

    /// The error of a table inside is the one to tell.
    TomlKey table_key(std::string_view name, ReadTable read) {
        return {name, "a table", [this, read = std::move(read)](const TomlValue& value) {
                    const auto* table = value.get<TomlTable>();
                    if (table == nullptr) return false;
                    const Status status = read(*table);
                    if (!status && !inner_) inner_ = status.error();
                    return status.is_ok();
                }};
    }

    TomlKey measure_key() {
        return {"measure", "loss, loss-at-bytes, time, bytes or accuracy", [this](const auto& v) {
                    const auto* text = v.template get<std::string>();
                    const auto measure = text != nullptr ? measure_from_name(*text) : std::nullopt;
                    if (measure) claim_.measure = *measure;
                    has_measure_ = measure.has_value();
                    return has_measure_;
                }};
    }

    TomlKey expected_key() {
        TomlKey key = bool_key("expected", claim_.is_expected);
        key.set = [this, set = std::move(key.set)](const TomlValue& value) {
            has_expected_ = true;
            return set(value);
        };
        return key;
    }

    Status read_target(const TomlTable& table) {
        Target target;
        double over_free = -1;
        auto status = read_toml_keys(
            file_,
            table,
            {number_key("loss", target.loss, 1e-6, 100),
             number_key("over_free", over_free, 0, 100)});
        if (!status) return status;
        if ((target.loss > 0) == (over_free >= 0)) {
            return fault(table, "[target] wants one of loss and over_free");
        }
        target.is_over_free = over_free >= 0;
        if (target.is_over_free) target.loss = over_free;
        claim_.target = target;
        return {};
    }

    Status read_side(const TomlTable& table, ClaimSide& side) {
        auto status = read_toml_keys(
            file_,
            table,
            {text_key("name", side.recipe),
             axes_key("axes", side.axes),
             TomlKey{
                 "tries",
                 "up to 3 lists of strings like \"codec=q8\"",
                 [&side](const TomlValue& value) {
                     return read_tries(value, side.tries);
                 }},
             rates_key("rates", side.rates)});
        if (status && side.recipe.empty()) return fault(table, "it wants the name of a recipe");
        if (side.tries.empty()) side.tries.emplace_back();
        return status;
    }

    static bool read_tries(const TomlValue& value, std::vector<Settings>& out) {
        const auto* array = value.get<TomlArray>();
        if (array == nullptr || array->empty() || array->size() > tries_max) return false;
        out.resize(array->size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (!sim::read_axes((*array)[i], out[i])) return false;
        }
        return true;
    }

    Status read_small(const TomlTable& table) {
        claim_.has_small = true;
        TomlKey expected = bool_key("expected", claim_.is_expected_small);
        is_small_expected_ = table.find("expected") != nullptr;
        auto seeds = static_cast<double>(claim_.seeds_small);
        auto status = read_toml_keys(
            file_,
            table,
            {axes_key("recipe", claim_.recipe.small),
             axes_key("baseline", claim_.baseline.small),
             number_key("seeds", seeds, 2, 100),
             std::move(expected)});
        claim_.seeds_small = static_cast<std::uint64_t>(seeds);
        return status;
    }

    /// What no key alone can tell.
    [[nodiscard]] Status check(const TomlTable& root) const {
        for (const auto& [name, text] : std::array<std::pair<const char*, const std::string*>, 5>{
                 {{"claim", &claim_.sentence},
                  {"source", &claim_.source},
                  {"stage", &claim_.stage},
                  {"recipe.name", &claim_.recipe.recipe},
                  {"baseline.name", &claim_.baseline.recipe}}}) {
            if (text->empty()) return fault(root, std::string("it lacks ") + name);
        }
        if (!has_measure_ || root.find("bound") == nullptr || !has_expected_) {
            return fault(root, "it lacks measure, bound or expected");
        }
        if (has_target(claim_.measure) != claim_.target.has_value()) {
            return fault(root, "[target] is for the measures time and bytes, and they want it");
        }
        if (has_target(claim_.measure) && !(claim_.bound > 0)) {
            return fault(root, "the bound of a ratio is above 0");
        }
        const bool is_small_expected = !is_small_expected_ || claim_.is_expected_small;
        if (!(claim_.is_expected && is_small_expected) && claim_.why.empty()) {
            return fault(root, "expected = false wants a why");
        }
        if (tries_of(claim_.recipe) != tries_of(claim_.baseline)) {
            return fault(
                root,
                "recipe and baseline are tuned by as many tries (rates times tries), here "
                    + std::to_string(tries_of(claim_.recipe)) + " and "
                    + std::to_string(tries_of(claim_.baseline)));
        }
        return {};
    }

    static std::size_t tries_of(const ClaimSide& side) {
        return side.tries.size() * side.rates.size();
    }

    std::string file_;
    Claim claim_;
    bool has_measure_ = false;
    bool has_expected_ = false;
    bool is_small_expected_ = false;
    std::optional<Error> inner_;
};

/// The names of the claims in `folder`, sorted.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

Error no_claim(const std::string& folder, const std::string& name) {
    std::string known;
    for (const std::string& each : names_in(folder))
        known += (known.empty() ? "" : ", ") + each;
    return {
        ErrorCode::not_found,
        "there is no claim " + name,
        folder + " has no " + name + ".toml",
        known.empty() ? "name the folder of the claims with --folder" : "the claims are " + known};
}

}  // namespace

std::string measure_name(Measure measure) {
    const auto* found = std::find_if(
        measures.begin(), measures.end(), [&](const auto& each) { return each.second == measure; });
    return found == measures.end() ? "" : std::string(found->first);
}

std::optional<Measure> measure_from_name(const std::string& name) {
    for (const auto& [known, measure] : measures)
        if (known == name) return measure;
    return std::nullopt;
}

bool has_target(Measure measure) {
    return measure == Measure::time || measure == Measure::bytes;
}

Result<Claim> parse_claim(const std::string& file, const std::string& text) {
    const auto root = proto::parse_toml(text, claim_bytes_max);
    if (!root) return root.error().with_context(file);
    auto claim = ClaimReader(file).read(*root);
    if (claim) return claim;
    Error error = claim.error();
    error.next = "see tests/papers/README.md for the keys";
    return error;
}

Result<std::vector<Claim>> read_claims(
    const std::string& folder, const std::vector<std::string>& names) {
    const std::string from = folder.empty() ? P2PSIM_CLAIMS_SOURCE : folder;
    const std::vector<std::string> chosen = names.empty() ? names_in(from) : names;
    if (chosen.empty()) return no_claim(from, "there");
    std::vector<Claim> claims;
    for (const std::string& name : chosen) {
        const auto path = std::filesystem::path(from) / (name + ".toml");
        const auto text = core::read_file(path.string(), claim_bytes_max);
        if (!text) return no_claim(from, name);
        auto claim = parse_claim(path.string(), std::string(core::as_text(*text)));
        if (!claim) return claim.error();
        if (claim->stage.ends_with(".toml")) {
            claim->stage = (path.parent_path() / claim->stage).string();
        }
        claims.push_back(*std::move(claim));
    }
    return claims;
}

}  // namespace p2p::sim
