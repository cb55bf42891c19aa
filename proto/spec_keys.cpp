#include "proto/spec_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "proto/spec_values.hpp"

namespace p2p::proto {

using core::JobSpec;

namespace {

template <typename Enum>
struct Choice {
    std::string_view name;
    Enum value;
};

constexpr std::array<Choice<core::ModelKind>, 2> model_kinds{{
    {"mlp", core::ModelKind::mlp},
    {"external", core::ModelKind::external},
}};
constexpr std::array<Choice<core::Activation>, 2> activations{{
    {"relu", core::Activation::relu},
    {"tanh", core::Activation::tanh},
}};
constexpr std::array<Choice<core::Init>, 2> inits{{
    {"he", core::Init::he},
    {"xavier", core::Init::xavier},
}};
constexpr std::array<Choice<core::OptimizerKind>, 2> optimizer_kinds{{
    {"sgd", core::OptimizerKind::sgd},
    {"adamw", core::OptimizerKind::adamw},
}};
constexpr std::array<Choice<core::ScheduleKind>, 2> schedule_kinds{{
    {"constant", core::ScheduleKind::constant},
    {"cosine", core::ScheduleKind::cosine},
}};
constexpr std::array<Choice<core::ScheduleScale>, 3> schedule_scales{{
    {"none", core::ScheduleScale::none},
    {"sqrt", core::ScheduleScale::sqrt},
    {"linear", core::ScheduleScale::linear},
}};

bool put(double& field, SpecValue& value) {
    auto& number = std::get<double>(value);
    if (number == 0) number = 0;  // -0 is 0, and has its bytes
    field = number;
    return true;
}

bool put(std::uint64_t& field, SpecValue& value) {
    field = std::get<std::uint64_t>(value);
    return true;
}

bool put(std::uint32_t& field, SpecValue& value) {
    const std::uint64_t number = std::get<std::uint64_t>(value);
    field = static_cast<std::uint32_t>(number);
    return number <= std::numeric_limits<std::uint32_t>::max();
}

bool put(std::string& field, SpecValue& value) {
    field = std::get<std::string>(value);
    return true;
}

bool put(core::Duration& field, SpecValue& value) {
    const std::uint64_t nanoseconds = std::get<std::uint64_t>(value);
    if (nanoseconds > std::uint64_t{std::numeric_limits<core::Duration::rep>::max()}) return false;
    field = core::Duration{static_cast<core::Duration::rep>(nanoseconds)};
    return true;
}

/// A field of the spec itself.
template <auto Field>
bool set_top(JobSpec& spec, SpecValue& value) {
    return put(spec.*Field, value);
}

/// A field of one of its sections.
template <auto Section, auto Field>
bool set_field(JobSpec& spec, SpecValue& value) {
    return put(spec.*Section.*Field, value);
}

template <auto Section, auto Field, const auto& Choices>
bool set_choice(JobSpec& spec, SpecValue& value) {
    const auto& name = std::get<std::string>(value);
    const auto* found = std::find_if(
        Choices.begin(), Choices.end(), [&](const auto& choice) { return choice.name == name; });
    if (found == Choices.end()) return false;
    spec.*Section.*Field = found->value;
    return true;
}

/// A key that is there so that a spec says it, but has one value at this stage.
template <const std::string_view& Only>
bool check_only(JobSpec& /*spec*/, SpecValue& value) {
    return std::get<std::string>(value) == Only;
}

constexpr std::string_view only_dtype = "float32";
constexpr std::string_view only_loss = "cross_entropy";

template <const std::string_view& Axis>
bool set_axis(JobSpec& spec, SpecValue& value) {
    spec.mixing.axes[std::string(Axis)] = std::get<std::string>(value);
    return true;
}

constexpr std::string_view axis_exchange = "exchange";
constexpr std::string_view axis_partners = "partners";
constexpr std::string_view axis_when = "when";
constexpr std::string_view axis_wait = "wait";
constexpr std::string_view axis_codec = "codec";
constexpr std::string_view axis_guard = "guard";
constexpr std::string_view axis_finish = "finish";
constexpr std::string_view axis_warmup = "warmup";
constexpr std::string_view axis_shards = "shards";
constexpr std::string_view axis_work = "work";
constexpr std::string_view axis_local = "local";
constexpr std::string_view axis_outer = "outer";

bool set_layers(JobSpec& spec, SpecValue& value) {
    const auto& widths = std::get<std::vector<std::uint64_t>>(value);
    spec.model.layers.clear();
    for (const std::uint64_t width : widths) {
        if (width > std::numeric_limits<std::uint32_t>::max()) return false;
        spec.model.layers.push_back(static_cast<std::uint32_t>(width));
    }
    return true;
}

/// Floats of one tensor, nothing where they are none or too many.
std::optional<std::uint64_t> size_of(const core::TensorInfo& tensor) {
    std::uint64_t size = 1;
    for (const std::uint64_t extent : tensor.shape) {
        if (extent == 0 || size > core::limits::parameters_max / extent) return std::nullopt;
        size *= extent;
    }
    return size;
}

/// Tensors lie one after the other; their offsets are no part of the text.
bool set_tensors(JobSpec& spec, SpecValue& value) {
    auto& tensors = std::get<std::vector<core::TensorInfo>>(value);
    std::uint64_t offset = 0;
    for (auto& tensor : tensors) {
        const auto size = size_of(tensor);
        if (!size || *size > core::limits::parameters_max - offset) return false;
        tensor.offset = offset;
        offset += *size;
    }
    spec.model.tensors = tensors;
    return true;
}

std::optional<double> alpha_of(std::string_view split) {
    constexpr std::string_view prefix = "dirichlet(";
    if (!split.starts_with(prefix) || !split.ends_with(')')) return std::nullopt;
    const auto digits = split.substr(prefix.size(), split.size() - prefix.size() - 1);
    double alpha = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, alpha);
    const bool is_number = error == std::errc{} && end == last && std::isfinite(alpha);
    return is_number ? std::optional(alpha) : std::nullopt;
}

bool set_split(JobSpec& spec, SpecValue& value) {
    auto& text = std::get<std::string>(value);
    spec.data.dirichlet_alpha = 0;
    if (text == "iid") spec.data.split = core::SplitKind::iid;
    if (text == "by-label") spec.data.split = core::SplitKind::by_label;
    if (text == "own") spec.data.split = core::SplitKind::own;
    if (text == "iid" || text == "by-label" || text == "own") return true;
    const auto alpha = alpha_of(text);
    if (!alpha) return false;
    spec.data.split = core::SplitKind::dirichlet;
    spec.data.dirichlet_alpha = *alpha;
    text = "dirichlet(" + shortest_text(*alpha) + ")";
    return true;
}

using Form = SpecForm;
using Spec = JobSpec;

// Sorted by name: the order of the canonical bytes.
constexpr auto keys = std::to_array<SpecKey>({
    {"checkpoint.every",
     Form::duration,
     "a duration such as \"5m\"; \"0s\": only at the end",
     set_field<&Spec::checkpoint, &core::CheckpointSpec::every>},
    {"checkpoint.keep_last",
     Form::count,
     "how many are kept, 1 to 1,000",
     set_field<&Spec::checkpoint, &core::CheckpointSpec::keep_last>},
    {"data.set",
     Form::text,
     "the name of a data set in the nodes' [datasets]",
     set_field<&Spec::data, &core::DataSpec::set>},
    {"data.split", Form::text, "\"iid\", \"by-label\", \"dirichlet(0.3)\" or \"own\"", set_split},
    {"eval.every",
     Form::duration,
     "a duration such as \"30s\"; \"0s\": only at the end",
     set_field<&Spec::eval, &core::EvalSpec::every>},
    {"job.description", Form::text, "one line of text", set_top<&Spec::description>},
    {"job.name", Form::text, "a name of a-z, 0-9, '.', '_', '-'", set_top<&Spec::name>},
    {"job.seed", Form::count, "a whole number", set_top<&Spec::seed>},
    {"mixing.codec", Form::text, "a codec, such as \"q8\"", set_axis<axis_codec>},
    {"mixing.deadline",
     Form::duration,
     "a duration such as \"30s\"",
     set_field<&Spec::mixing, &core::MixingSpec::deadline>},
    {"mixing.exchange",
     Form::text,
     "what goes between two nodes, such as \"swap\"",
     set_axis<axis_exchange>},
    {"mixing.finish", Form::text, "how the job ends, such as \"exact\"", set_axis<axis_finish>},
    {"mixing.finish_deadline",
     Form::duration,
     "a duration such as \"10m\"",
     set_field<&Spec::mixing, &core::MixingSpec::finish_deadline>},
    {"mixing.finish_tolerance",
     Form::real,
     "a distance over the norm, such as 1e-4",
     set_field<&Spec::mixing, &core::MixingSpec::finish_tolerance>},
    {"mixing.guard",
     Form::texts,
     "guards, such as [\"finite\", \"norm(10)\"]",
     set_axis<axis_guard>},
    {"mixing.local",
     Form::text,
     "how local steps are bent, such as \"plain\"",
     set_axis<axis_local>},
    {"mixing.min_peers",
     Form::count,
     "nodes before the first step, 1 to 4,096",
     set_field<&Spec::mixing, &core::MixingSpec::min_peers>},
    {"mixing.outer",
     Form::text,
     "an outer step, such as \"nesterov(0.7,0.9)\"",
     set_axis<axis_outer>},
    {"mixing.partners", Form::text, "whom to mix with", set_axis<axis_partners>},
    {"mixing.recipe",
     Form::text,
     "the name of a recipe",
     set_field<&Spec::mixing, &core::MixingSpec::recipe>},
    {"mixing.shards", Form::text, "which shards a swap is of", set_axis<axis_shards>},
    {"mixing.staleness_max",
     Form::real,
     "a share of the work, more than 0, to 1",
     set_field<&Spec::mixing, &core::MixingSpec::staleness_max>},
    {"mixing.wait", Form::text, "what the trainer waits for", set_axis<axis_wait>},
    {"mixing.warmup", Form::text, "steps of which each is mixed, in quotes", set_axis<axis_warmup>},
    {"mixing.when", Form::text, "when a swap opens", set_axis<axis_when>},
    {"mixing.work", Form::text, "how a round's steps are shared out", set_axis<axis_work>},
    {"model.activation",
     Form::text,
     "\"relu\" or \"tanh\"",
     set_choice<&Spec::model, &core::ModelSpec::activation, activations>},
    {"model.dtype", Form::text, "\"float32\"", check_only<only_dtype>},
    {"model.init",
     Form::text,
     "\"he\" or \"xavier\"",
     set_choice<&Spec::model, &core::ModelSpec::init, inits>},
    {"model.kind",
     Form::text,
     "\"mlp\" or \"external\"",
     set_choice<&Spec::model, &core::ModelSpec::kind, model_kinds>},
    {"model.layers", Form::counts, "widths such as [784, 256, 10]", set_layers},
    {"model.tensors",
     Form::tensors,
     "an array of {name, shape} with extents above 0, together at most 2^40 numbers",
     set_tensors},
    {"optimizer.beta1",
     Form::real,
     "0 to less than 1",
     set_field<&Spec::optimizer, &core::OptimizerSpec::beta1>},
    {"optimizer.beta2",
     Form::real,
     "0 to less than 1",
     set_field<&Spec::optimizer, &core::OptimizerSpec::beta2>},
    {"optimizer.epsilon",
     Form::real,
     "more than 0, such as 1e-8",
     set_field<&Spec::optimizer, &core::OptimizerSpec::epsilon>},
    {"optimizer.kind",
     Form::text,
     "\"sgd\" or \"adamw\"",
     set_choice<&Spec::optimizer, &core::OptimizerSpec::kind, optimizer_kinds>},
    {"optimizer.momentum",
     Form::real,
     "0 to less than 1",
     set_field<&Spec::optimizer, &core::OptimizerSpec::momentum>},
    {"optimizer.weight_decay",
     Form::real,
     "0 to 1",
     set_field<&Spec::optimizer, &core::OptimizerSpec::weight_decay>},
    {"schedule.base_lr",
     Form::real,
     "more than 0",
     set_field<&Spec::schedule, &core::ScheduleSpec::base_lr>},
    {"schedule.final_lr",
     Form::real,
     "0 or more",
     set_field<&Spec::schedule, &core::ScheduleSpec::final_lr>},
    {"schedule.kind",
     Form::text,
     "\"constant\" or \"cosine\"",
     set_choice<&Spec::schedule, &core::ScheduleSpec::kind, schedule_kinds>},
    {"schedule.scale",
     Form::text,
     "\"none\", \"sqrt\" or \"linear\"",
     set_choice<&Spec::schedule, &core::ScheduleSpec::scale, schedule_scales>},
    {"schedule.warmup",
     Form::real,
     "a fraction of the work, 0 to 1",
     set_field<&Spec::schedule, &core::ScheduleSpec::warmup>},
    {"schema", Form::text, "\"p2pd.job/1\"", check_only<spec_schema>},
    {"train.batch_size",
     Form::count,
     "samples a step of one node, 1 to 65,536",
     set_field<&Spec::train, &core::TrainSpec::batch_size>},
    {"train.epochs",
     Form::real,
     "passes of the whole mesh over the set, more than 0",
     set_field<&Spec::train, &core::TrainSpec::epochs>},
    {"train.loss", Form::text, "\"cross_entropy\"", check_only<only_loss>},
    {"train.minutes",
     Form::real,
     "minutes since a node's first step, more than 0",
     set_field<&Spec::train, &core::TrainSpec::minutes>},
    {"train.round_steps",
     Form::count,
     "local steps of a round, 1 to 1,000,000",
     set_field<&Spec::train, &core::TrainSpec::round_steps>},
    {"train.samples",
     Form::count,
     "samples of the whole mesh, more than 0",
     set_field<&Spec::train, &core::TrainSpec::samples>},
});

constexpr bool is_before(const SpecKey& a, const SpecKey& b) {
    return a.name < b.name;
}

static_assert(std::is_sorted(keys.begin(), keys.end(), is_before));

}  // namespace

std::span<const SpecKey> spec_keys() {
    return keys;
}

const SpecKey* find_spec_key(std::string_view name) {
    const auto* found = std::lower_bound(
        keys.begin(), keys.end(), name, [](const SpecKey& key, std::string_view wanted) {
            return key.name < wanted;
        });
    return found != keys.end() && found->name == name ? found : nullptr;
}

}  // namespace p2p::proto
