#include "proto/spec.hpp"

#include <gtest/gtest.h>

#include "core/base/limits.hpp"
#include "core/base/rng.hpp"
#include "proto/msgpack.hpp"

namespace p2p::proto {
namespace {

using namespace std::chrono_literals;
using core::Bytes;
using core::ErrorCode;

constexpr std::string_view example = R"toml(schema = "p2pd.job/1"

[job]
name = "mnist-mlp"
description = "3-site gossip averaging, MNIST"
seed = 42

[model]
kind = "mlp"
layers = [784, 256, 128, 10]
activation = "tanh"
init = "xavier"
dtype = "float32"

[data]
set = "fashion-mnist"
split = "dirichlet(0.3)"

[train]
loss = "cross_entropy"
epochs = 10
batch_size = 32
round_steps = 8

[optimizer]
kind = "adamw"
momentum = 0.8
weight_decay = 1e-4
beta1 = 0.8
beta2 = 0.99
epsilon = 1e-7

[schedule]
kind = "constant"
base_lr = 0.1
warmup = 0
final_lr = 0.002
scale = "none"

[mixing]
recipe = "d-psgd"
partners = "linked"
when = "continuous"
wait = "none"
codec = "delta(q8)"
guard = ["finite", "norm(10)"]
finish = "exact"
min_peers = 2
deadline = "1m30s"
staleness_max = 0.05
finish_tolerance = 1e-3
finish_deadline = "5m"

[eval]
every = "10s"

[checkpoint]
every = "0s"
keep_last = 2
)toml";

constexpr std::string_view smallest = R"([job]
name = "a"
[model]
layers = [2, 1]
[data]
set = "d"
[train]
epochs = 1
)";

/// The error of a text that must not parse.
core::Error error_of(std::string_view text) {
    const auto parsed = parse_spec_toml(text);
    EXPECT_FALSE(parsed) << text;
    return parsed ? core::Error{} : parsed.error();
}

core::Error canonical_error(core::ByteView bytes) {
    const auto spec = read_spec_canonical(bytes);
    EXPECT_FALSE(spec);
    return spec ? core::Error{} : spec.error();
}

/// The smallest job with more lines of its last section.
std::string with(std::string_view lines) {
    return std::string(smallest) + std::string(lines) + "\n";
}

TEST(Spec, ReadsEveryKey) {
    const auto parsed = parse_spec_toml(example);
    ASSERT_TRUE(parsed) << parsed.error().text();
    const core::JobSpec& spec = parsed->spec;
    EXPECT_EQ("mnist-mlp", spec.name);
    EXPECT_EQ("3-site gossip averaging, MNIST", spec.description);
    EXPECT_EQ(42U, spec.seed);
    EXPECT_EQ(core::Activation::tanh, spec.model.activation);
    EXPECT_EQ(core::Init::xavier, spec.model.init);
    EXPECT_EQ((std::vector<std::uint32_t>{784, 256, 128, 10}), spec.model.layers);
    EXPECT_EQ((core::DataSpec{"fashion-mnist", core::SplitKind::dirichlet, 0.3}), spec.data);
    EXPECT_EQ((core::TrainSpec{10, 0, 0, 32, 8}), spec.train);
    EXPECT_EQ(
        (core::OptimizerSpec{core::OptimizerKind::adamw, 0.8, 1e-4, 0.8, 0.99, 1e-7}),
        spec.optimizer);
    EXPECT_EQ(
        (core::ScheduleSpec{
            core::ScheduleKind::constant, 0.1, 0, 0.002, core::ScheduleScale::none}),
        spec.schedule);
    EXPECT_EQ("d-psgd", spec.mixing.recipe);
    EXPECT_EQ(
        (std::map<std::string, std::string>{
            {"partners", "linked"},
            {"when", "continuous"},
            {"wait", "none"},
            {"codec", "delta(q8)"},
            {"guard", "finite+norm(10)"},
            {"finish", "exact"}}),
        spec.mixing.axes);
    EXPECT_EQ(2U, spec.mixing.min_peers);
    EXPECT_EQ(core::Duration{90s}, spec.mixing.deadline);
    EXPECT_EQ(0.05, spec.mixing.staleness_max);
    EXPECT_EQ(1e-3, spec.mixing.finish_tolerance);
    EXPECT_EQ(core::Duration{5min}, spec.mixing.finish_deadline);
    EXPECT_EQ(core::Duration{10s}, spec.eval.every);
    EXPECT_EQ((core::CheckpointSpec{0s, 2}), spec.checkpoint);
}

TEST(Spec, LeavesDefaultsWhereNothingIsSaid) {
    const auto parsed = parse_spec_toml(smallest);
    ASSERT_TRUE(parsed) << parsed.error().text();
    core::JobSpec wanted;
    wanted.name = "a";
    wanted.model.layers = {2, 1};
    wanted.data.set = "d";
    wanted.train.epochs = 1;
    EXPECT_EQ(wanted, parsed->spec);
}

TEST(Spec, ReadsTheTensorsOfAnExternalModel) {
    const auto parsed = parse_spec_toml(R"([job]
name = "cifar"
[model]
kind = "external"
tensors = [{name = "a.weight", shape = [2, 3]}, {name = "scale", shape = []}]
[train]
samples = 1000
)");
    ASSERT_TRUE(parsed) << parsed.error().text();
    EXPECT_EQ(
        (std::vector<core::TensorInfo>{{"a.weight", {2, 3}, 0}, {"scale", {}, 6}}),
        parsed->spec.model.tensors);
    const auto back = read_spec_canonical(parsed->canonical);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(parsed->spec, *back);
}

TEST(Spec, GivesBackFromCanonicalBytesWhatTheTextSaid) {
    for (const auto text : {example, smallest}) {
        const auto parsed = parse_spec_toml(text);
        ASSERT_TRUE(parsed);
        const auto back = read_spec_canonical(parsed->canonical);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(parsed->spec, *back);
        EXPECT_EQ(parsed->id, spec_id(parsed->canonical));
    }
}

TEST(Spec, KeepsItsIdForEver) {
    EXPECT_EQ(
        "ycyosajqwvbdi4rqtw5xzwkhrzufyeyzgjwmlyzth3572dnrllsa",
        parse_spec_toml(example)->id.text());
}

TEST(Spec, HasOneIdForAllWaysToSayTheSame) {
    const auto one = parse_spec_toml(smallest);
    const auto other = parse_spec_toml(R"(# in another order, with other spellings
schema = "p2pd.job/1"
train.epochs = 1.0
data = { set = 'd' }
[model]
layers = [0x2,
    1]
[job]
name = """a"""
[eval]
)");
    ASSERT_TRUE(one);
    ASSERT_TRUE(other) << other.error().text();
    EXPECT_EQ(one->canonical, other->canonical);
    EXPECT_EQ(one->id, other->id);
}

TEST(Spec, HasAnotherIdWhenADefaultIsWritten) {
    EXPECT_NE(parse_spec_toml(smallest)->id, parse_spec_toml(with("batch_size = 64"))->id);
}

TEST(Spec, NormalizesDurationsZerosAndGuards) {
    const auto id = [](std::string_view lines) {
        const auto parsed = parse_spec_toml(with(lines));
        EXPECT_TRUE(parsed) << lines;
        return parsed ? parsed->id : core::JobId{};
    };
    EXPECT_EQ(id("[mixing]\ndeadline = \"60s\""), id("[mixing]\ndeadline = \"1m\""));
    EXPECT_EQ(id("[schedule]\nwarmup = 0.0"), id("[schedule]\nwarmup = -0.0"));
    EXPECT_EQ(id("[schedule]\nwarmup = 1e0"), id("[schedule]\nwarmup = 1"));
    EXPECT_EQ(id("[mixing]\nguard = \"a+b\""), id("[mixing]\nguard = [\"a\", \"b\"]"));
}

TEST(Spec, NamesTheNearestKeyOfAnUnknownOne) {
    const auto error = error_of(with("batchsize = 64"));
    EXPECT_EQ(ErrorCode::invalid, error.code);
    EXPECT_EQ("line 9, column 1: train.batchsize", error.what);
    EXPECT_EQ("did you mean train.batch_size?", error.next);
    EXPECT_EQ("did you mean optimizer.momentum?", error_of(with("momentum = 0.9")).next);
    EXPECT_NE("", error_of(with("colour = 1")).next);
}

TEST(Spec, DoesNotKnowKeysOfLaterStages) {
    for (const auto* lines :
         {"[early_stop]\npatience = 20",
          "[metrics]\njsonl = true",
          "[eval]\nmetrics = [\"loss\"]",
          "[checkpoint]\nkeep_best = 1",
          "[mixing]\nprefer = \"time\"",
          "[early_stop]"}) {
        EXPECT_EQ("no such key in a job", error_of(with(lines)).why) << lines;
    }
}

TEST(Spec, SaysWhatAKeyTakesWhenItsValueWillNotDo) {
    const auto error = error_of(with("[optimizer]\nkind = \"adam\""));
    EXPECT_EQ("line 10, column 1: optimizer.kind", error.what);
    EXPECT_EQ("\"adam\" will not do", error.why);
    EXPECT_EQ("it takes \"sgd\" or \"adamw\"", error.next);
}

TEST(Spec, RefusesValuesOfAnotherKind) {
    for (const auto* lines :
         {"batch_size = -1",
          "batch_size = 1.0",
          "batch_size = \"64\"",
          "batch_size = 4294967296",
          "[schedule]\nbase_lr = \"0.1\"",
          "[schedule]\nbase_lr = nan",
          "[schedule]\nbase_lr = inf",
          "[eval]\nevery = 30",
          "[eval]\nevery = \"soon\"",
          "[eval]\nevery = true",
          "[mixing]\nguard = [1]",
          "[mixing]\nguard = [\"a+b\"]",
          "[mixing]\ncodec = [\"q8\"]",
          "loss = \"mse\"",
          "[data.split]\nx = 1",
          "[checkpoint]\nkeep_last = []"}) {
        EXPECT_FALSE(parse_spec_toml(with(lines))) << lines;
    }
}

TEST(Spec, RefusesTensorsOfAnotherShape) {
    const auto parse = [](std::string_view tensors) {
        return parse_spec_toml(
            "[job]\nname = \"a\"\n[train]\nsamples = 1\n[model]\nkind = \"external\"\ntensors = "
            + std::string(tensors) + "\n");
    };
    EXPECT_TRUE(parse("[{name = 'a', shape = [1]}]"));
    for (const auto* tensors :
         {"[]",
          "'a'",
          "['a']",
          "[{name = 'a'}]",
          "[{name = 'a', shape = 1}]",
          "[{name = 1, shape = [1]}]",
          "[{name = 'a', shape = [0]}]",
          "[{name = 'a', shape = [-1]}]",
          "[{name = 'a', shape = [1], dtype = 'x'}]",
          "[{name = 'a', shape = [1,1,1,1,1,1,1,1,1]}]",
          "[{name = 'a', shape = [1]}, {name = 'a', shape = [1]}]",
          "[{name = 'a', shape = [4294967296, 4294967296]}]"}) {
        EXPECT_FALSE(parse(tensors)) << tensors;
    }
}

TEST(Spec, KnowsTheLineOfAValueThatMakesNoSense) {
    const auto error = error_of(with("batch_size = 0"));
    EXPECT_EQ("line 9, column 1: train.batch_size", error.what);
    EXPECT_EQ("use 1 to 65,536", error.next);
}

TEST(Spec, RefusesAnotherSchemaAndATextThatIsTooLong) {
    EXPECT_FALSE(parse_spec_toml("schema = \"p2pd.job/2\"\n" + std::string(smallest)));
    EXPECT_EQ(
        ErrorCode::too_large,
        error_of(std::string(core::limits::job_spec_bytes_max + 1, '#')).code);
}

TEST(Spec, WritesTomlThatGivesTheSameBytes) {
    for (const auto text : {example, smallest}) {
        const auto parsed = parse_spec_toml(text);
        const auto written = spec_canonical_to_toml(parsed->canonical);
        ASSERT_TRUE(written);
        const auto again = parse_spec_toml(*written);
        ASSERT_TRUE(again) << again.error().text() << "\n" << *written;
        EXPECT_EQ(parsed->canonical, again->canonical);
    }
}

TEST(SpecCanonical, RefusesEveryTruncationAndWhatIsLeftOver) {
    Bytes bytes = parse_spec_toml(example)->canonical;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read_spec_canonical(core::ByteView(bytes).first(size))) << size;
    }
    bytes.push_back(0xc0);
    EXPECT_FALSE(read_spec_canonical(bytes));
}

TEST(SpecCanonical, TakesAFlippedBitOnlyAsTheOneFormOfAnotherSpec) {
    Bytes bytes = parse_spec_toml(example)->canonical;
    int taken = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
        bytes[bit / 8] ^= mask;
        if (read_spec_canonical(bytes)) {
            ++taken;
            const auto text = spec_canonical_to_toml(bytes);
            ASSERT_TRUE(text);
            const auto parsed = parse_spec_toml(*text);
            ASSERT_TRUE(parsed) << parsed.error().text() << "\n" << *text;
            EXPECT_EQ(bytes, parsed->canonical) << bit;
        }
        bytes[bit / 8] ^= mask;
    }
    EXPECT_GT(taken, 50);
}

/// A canonical map of the smallest job, with `epochs` written by `write`.
template <typename Write>
Bytes smallest_canonical(std::string_view last_key, Write&& write) {
    Packer out;
    out.map(5).text("data.set").text("d").text("job.name").text("a");
    out.text("model.layers").array(2).uint(2).uint(1);
    out.text("schema").text("p2pd.job/1").text(last_key);
    write(out);
    return out.take();
}

TEST(SpecCanonical, TakesOnlyTheNormalForm) {
    const auto good = smallest_canonical("train.epochs", [](Packer& out) { out.f64(1.0); });
    EXPECT_EQ(parse_spec_toml(smallest)->canonical, good);
    EXPECT_TRUE(read_spec_canonical(good));
    const auto whole = smallest_canonical("train.epochs", [](Packer& out) { out.uint(1); });
    EXPECT_FALSE(read_spec_canonical(whole));
    const auto unknown = smallest_canonical("train.epoch", [](Packer& out) { out.f64(1.0); });
    EXPECT_EQ(ErrorCode::unsupported, canonical_error(unknown).code);
    const auto repeated = smallest_canonical("job.name", [](Packer& out) { out.text("b"); });
    EXPECT_FALSE(read_spec_canonical(repeated));
    const auto endless = smallest_canonical("train.epochs", [](Packer& out) { out.f64(-1.0); });
    EXPECT_EQ(ErrorCode::invalid, canonical_error(endless).code);
}

TEST(SpecCanonical, WantsTheSchema) {
    Packer out;
    out.map(4).text("data.set").text("d").text("job.name").text("a");
    out.text("model.layers").array(2).uint(2).uint(1).text("train.epochs").f64(1.0);
    EXPECT_EQ(ErrorCode::malformed, canonical_error(out.bytes()).code);
}

TEST(SpecCanonical, RefusesWhatIsTooLong) {
    const Bytes bytes(core::limits::job_spec_bytes_max + 1);
    EXPECT_EQ(ErrorCode::too_large, canonical_error(bytes).code);
}

}  // namespace
}  // namespace p2p::proto
