#include "core/job/spec.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/limits.hpp"

namespace p2p::core {

namespace {

Error fault(std::string_view key, std::string_view why, std::string_view next) {
    return {ErrorCode::invalid, std::string(key), std::string(why), std::string(next)};
}

/// The first of several checks that fails; each is made only while the ones before it hold.
template <typename... Checks>
Status first_fault(const Checks&... checks) {
    Status status;
    (void)((status = checks()).is_ok() && ...);
    return status;
}

/// A number and the range it must lie in; ends count as inside unless `is_open_low`.
struct Range {
    std::string_view key;
    double value;
    double low;
    double high;
    std::string_view wanted;  ///< the range in words
    bool is_open_low = false;
};

template <std::size_t Size>
Status check_ranges(const std::array<Range, Size>& ranges) {
    for (const auto& range : ranges) {
        const bool is_low = range.is_open_low ? range.value > range.low : range.value >= range.low;
        // NaN fails both comparisons.
        if (!is_low || !(range.value <= range.high)) {
            return fault(range.key, "out of range: " + std::to_string(range.value), range.wanted);
        }
    }
    return {};
}

bool is_plain_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

/// Words of recipes, codecs and axes ("delta(q8)", "finite+norm(10)").
bool is_axis_text(std::string_view text) {
    return !text.empty() && text.size() <= limits::name_bytes_max
           && std::all_of(text.begin(), text.end(), [](char c) {
                  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                         || std::string_view("().,+-_").find(c) != std::string_view::npos;
              });
}

constexpr std::size_t axis_value_bytes_max = 255;

/// The same with names of tensors, which stars may stand in ("delta(q4) *.bias=fp32").
bool is_axis_value(std::string_view text) {
    return !text.empty() && text.size() <= axis_value_bytes_max
           && std::all_of(text.begin(), text.end(), [](char c) {
                  return (c >= 'A' && c <= 'Z')
                         || std::string_view(" *=").find(c) != std::string_view::npos
                         || is_axis_text({&c, 1});
              });
}

Status check_job(const JobSpec& spec) {
    if (!is_job_name(spec.name)) {
        return fault(
            "job.name",
            spec.name.empty() ? "a job needs a name" : "not a name: " + spec.name.substr(0, 80),
            "use a-z, 0-9, '.', '_' and '-', at most 63, beginning with a letter or digit");
    }
    if (spec.description.size() > limits::description_bytes_max) {
        return fault("job.description", "too long", "use at most 1,024 bytes");
    }
    if (!is_plain_text(spec.description)) {
        return fault("job.description", "control characters in it", "use one line of plain text");
    }
    return {};
}

/// a * b, nothing past limits::parameters_max.
std::optional<std::uint64_t> bounded_product(std::uint64_t a, std::uint64_t b) {
    if (a != 0 && b > limits::parameters_max / a) return std::nullopt;
    return a * b;
}

constexpr std::string_view parameters_wanted = "use fewer or smaller ones: at most 2^40 numbers";

Status check_layers(const ModelSpec& model) {
    const auto& layers = model.layers;
    if (layers.size() < 2 || layers.size() > limits::layers_max) {
        return fault(
            "model.layers",
            std::to_string(layers.size()) + " widths",
            "give 2 to 64 widths from input to output, such as [784, 256, 10]");
    }
    if (std::find(layers.begin(), layers.end(), 0U) != layers.end()) {
        return fault("model.layers", "a layer of width 0", "use widths of at least 1");
    }
    std::uint64_t parameters = 0;
    for (std::size_t i = 1; i < layers.size(); ++i) {
        const auto size = bounded_product(std::uint64_t{layers[i - 1]} + 1, layers[i]);
        if (!size || *size > limits::parameters_max - parameters) {
            return fault("model.layers", "too many parameters", parameters_wanted);
        }
        parameters += *size;
    }
    if (!model.tensors.empty()) {
        return fault(
            "model.tensors", "an mlp has its own", "leave it out, or use kind = \"external\"");
    }
    return {};
}

Status check_tensor(const TensorInfo& tensor, std::uint64_t offset) {
    const std::string name = tensor.name.substr(0, 80);
    if (tensor.name.empty() || tensor.name.size() > limits::tensor_name_bytes_max
        || !is_plain_text(tensor.name)) {
        return fault(
            "model.tensors", "not a tensor's name: \"" + name + "\"", "use 1 to 256 plain bytes");
    }
    if (tensor.shape.size() > limits::tensor_dimensions_max) {
        return fault("model.tensors", name + " has too many dimensions", "use at most 8");
    }
    std::uint64_t size = 1;
    for (const std::uint64_t extent : tensor.shape) {
        if (extent == 0) return fault("model.tensors", name + " is empty", "use extents above 0");
        const auto product = bounded_product(size, extent);
        if (!product) return fault("model.tensors", name + " is too large", parameters_wanted);
        size = *product;
    }
    if (tensor.offset != offset) {
        return fault("model.tensors", name + " leaves a gap", "let them lie in order");
    }
    if (size > limits::parameters_max - offset) {
        return fault("model.tensors", "too many parameters", parameters_wanted);
    }
    return {};
}

Status check_tensors(const ModelSpec& model) {
    if (!model.layers.empty()) {
        return fault("model.layers", "an external model brings tensors", "leave it out");
    }
    if (model.tensors.empty() || model.tensors.size() > limits::tensors_max) {
        return fault(
            "model.tensors",
            std::to_string(model.tensors.size()) + " tensors",
            "give 1 to 65,536 of {name, shape}");
    }
    std::set<std::string_view> names;
    std::uint64_t offset = 0;
    for (const auto& tensor : model.tensors) {
        if (auto status = check_tensor(tensor, offset); !status) return status;
        if (!names.insert(tensor.name).second) {
            return fault(
                "model.tensors", tensor.name + " is there twice", "give each another name");
        }
        offset += tensor.size();
    }
    return {};
}

Status check_model(const ModelSpec& model) {
    return model.kind == ModelKind::mlp ? check_layers(model) : check_tensors(model);
}

Status check_data(const JobSpec& spec) {
    const DataSpec& data = spec.data;
    const bool is_external = spec.model.kind == ModelKind::external;
    if (data.set.empty() && !is_external) {
        return fault("data.set", "no data", "name one of the sets in the nodes' [datasets]");
    }
    if (!data.set.empty() && !is_job_name(data.set)) {
        return fault(
            "data.set", "not a name", "use a name as in [datasets]: a-z, 0-9, '.', '_', '-'");
    }
    if (data.split != SplitKind::dirichlet) return {};
    return check_ranges(std::array{
        Range{"data.split", data.dirichlet_alpha, 1e-3, 1e3, "use dirichlet(0.001) to (1000)"}});
}

/// A job without a set of its own (external, data.set = "") has no epochs to count.
Status check_total(const JobSpec& spec) {
    const TrainSpec& train = spec.train;
    const int given =
        (train.epochs != 0 ? 1 : 0) + (train.samples != 0 ? 1 : 0) + (train.minutes != 0 ? 1 : 0);
    if (given != 1) {
        return fault(
            "train.epochs",
            given == 0 ? "the job has no end" : "the job has more than one end",
            "give exactly one of train.epochs, train.samples and train.minutes");
    }
    if (train.epochs != 0 && spec.data.set.empty()) {
        return fault(
            "train.epochs", "no data.set to count epochs of", "use train.samples or train.minutes");
    }
    if (train.samples > limits::count_node_max) {
        return fault("train.samples", "too many", "use at most 2^50");
    }
    return {};
}

Status check_train(const JobSpec& spec) {
    if (auto status = check_total(spec); !status) return status;
    const TrainSpec& train = spec.train;
    return check_ranges(std::array{
        Range{"train.epochs", train.epochs, 0, 1e6, "use more than 0 and at most 1,000,000"},
        Range{"train.minutes", train.minutes, 0, 525'600, "use more than 0 and at most 525,600"},
        Range{"train.batch_size", double(train.batch_size), 1, 65'536, "use 1 to 65,536"},
        Range{"train.round_steps", double(train.round_steps), 1, 1e6, "use 1 to 1,000,000"},
    });
}

Status check_optimizer(const OptimizerSpec& optimizer) {
    constexpr double below_one = 0.999999;
    return check_ranges(std::array{
        Range{"optimizer.momentum", optimizer.momentum, 0, below_one, "use 0 to 0.999999"},
        Range{"optimizer.weight_decay", optimizer.weight_decay, 0, 1, "use 0 to 1"},
        Range{"optimizer.beta1", optimizer.beta1, 0, below_one, "use 0 to 0.999999"},
        Range{"optimizer.beta2", optimizer.beta2, 0, below_one, "use 0 to 0.999999"},
        Range{"optimizer.epsilon", optimizer.epsilon, 0, 1, "use more than 0, such as 1e-8", true},
    });
}

Status check_schedule(const ScheduleSpec& schedule) {
    return check_ranges(std::array{
        Range{"schedule.base_lr", schedule.base_lr, 0, 100, "use more than 0, at most 100", true},
        Range{"schedule.warmup", schedule.warmup, 0, 1, "use a fraction of the work, 0 to 1"},
        Range{"schedule.final_lr", schedule.final_lr, 0, 100, "use 0 to 100"},
    });
}

Status check_axes(const MixingSpec& mixing) {
    if (!is_axis_text(mixing.recipe)) {
        return fault("mixing.recipe", "not a recipe's name", "see p2pd-job(5) for the recipes");
    }
    if (mixing.axes.size() > limits::mixing_axes_max) {
        return fault("mixing", "too many axes", "see p2pd-job(5) for the axes");
    }
    for (const auto& [axis, value] : mixing.axes) {
        if (!is_axis_text(axis) || !is_axis_value(value)) {
            return fault(
                "mixing." + axis.substr(0, 63),
                "not an axis's value",
                "see p2pd-job(5) for its values");
        }
    }
    return {};
}

Status check_mixing(const MixingSpec& mixing) {
    if (auto status = check_axes(mixing); !status) return status;
    constexpr double day = 86'400;
    return check_ranges(std::array{
        Range{"mixing.min_peers", double(mixing.min_peers), 1, 4096, "use 1 to 4,096"},
        Range{"mixing.deadline", to_seconds(mixing.deadline), 1e-3, day, "use 1ms to 1d"},
        Range{"mixing.staleness_max", mixing.staleness_max, 0, 1, "use more than 0, to 1", true},
        Range{
            "mixing.finish_tolerance",
            mixing.finish_tolerance,
            0,
            0.5,
            "use more than 0, to 0.5",
            true},
        Range{
            "mixing.finish_deadline",
            to_seconds(mixing.finish_deadline),
            1,
            7 * day,
            "use 1s to 7d"},
    });
}

/// Zero means only at the end; anything between would only burn the disk or the cores.
Status check_period(std::string_view key, Duration every) {
    if (every == Duration::zero()) return {};
    return check_ranges(std::array{Range{
        key, to_seconds(every), 0.1, 30 * 86'400, "use 0s (only at the end) or 100ms to 30d"}});
}

Status check_checkpoint(const CheckpointSpec& checkpoint) {
    return check_ranges(std::array{
        Range{"checkpoint.keep_last", double(checkpoint.keep_last), 1, 1000, "use 1 to 1,000"}});
}

}  // namespace

bool is_job_name(std::string_view name) {
    const auto is_alphanumeric = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    };
    if (name.empty() || name.size() > limits::name_bytes_max) return false;
    return is_alphanumeric(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
               return is_alphanumeric(c) || c == '.' || c == '_' || c == '-';
           });
}

Status validate(const JobSpec& spec) {
    return first_fault(
        [&] { return check_job(spec); },
        [&] { return check_model(spec.model); },
        [&] { return check_data(spec); },
        [&] { return check_train(spec); },
        [&] { return check_optimizer(spec.optimizer); },
        [&] { return check_schedule(spec.schedule); },
        [&] { return check_mixing(spec.mixing); },
        [&] { return check_period("eval.every", spec.eval.every); },
        [&] { return check_period("checkpoint.every", spec.checkpoint.every); },
        [&] { return check_checkpoint(spec.checkpoint); });
}

Status check_local(const JobSpec& spec, const LocalSpec& local) {
    if (local.kind == Local::plain) return {};
    if (spec.model.kind == ModelKind::external) {
        return fault(
            "mixing.local",
            "the script of an external model takes its own steps, which nothing here can bend",
            "set mixing.local = \"plain\", or choose a recipe without it");
    }
    const bool needs_sgd = local.kind == Local::quasi_global || local.kind == Local::predict
                           || local.kind == Local::compensate;
    if (needs_sgd && spec.optimizer.kind != OptimizerKind::sgd) {
        return fault(
            "mixing.local",
            "it is made for sgd, whose steps are the momentum or the gradient times the rate",
            "set optimizer.kind = \"sgd\", or mixing.local = \"plain\"");
    }
    return {};
}

SampleCount samples_total(const JobSpec& spec, SampleCount set_samples) {
    if (spec.train.samples > 0) return SampleCount{spec.train.samples};
    if (!(spec.train.epochs > 0)) return SampleCount{};
    const double total = std::ceil(spec.train.epochs * static_cast<double>(set_samples.value));
    const auto most = static_cast<double>(limits::count_mesh_max);
    return SampleCount{static_cast<std::uint64_t>(std::min(total, most))};
}

}  // namespace p2p::core
