#pragma once

// What a job says about learning: model, data, loss, optimizer, schedule, and what its recipe says
// of local and outer steps. Values only.
//
// The job spec and recipes hold these; nn, data and train are built from them; they stand here
// because rooms do not include each other. Their text form and their validation belong to
// proto/spec and core/job/spec.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/tensor.hpp"

namespace p2p::core {

enum class ModelKind : std::uint8_t { mlp, external };
enum class Activation : std::uint8_t { relu, tanh };
enum class Init : std::uint8_t { he, xavier };

struct ModelSpec {
    ModelKind kind = ModelKind::mlp;
    std::vector<std::uint32_t> layers;  ///< mlp: widths from input to output, at least two
    Activation activation = Activation::relu;
    Init init = Init::he;
    std::vector<TensorInfo> tensors;  ///< external: what the client brings, float32

    bool operator==(const ModelSpec&) const = default;
};

enum class SplitKind : std::uint8_t { iid, by_label, dirichlet, own };

struct DataSpec {
    std::string set;  ///< a name in the node's [datasets]
    SplitKind split = SplitKind::iid;
    double dirichlet_alpha = 0;  ///< only of `dirichlet`

    bool operator==(const DataSpec&) const = default;
};

enum class OptimizerKind : std::uint8_t { sgd, adamw };

struct OptimizerSpec {
    OptimizerKind kind = OptimizerKind::sgd;
    double momentum = 0.9;    ///< sgd
    double weight_decay = 0;  ///< sgd: L2 in the gradient; adamw: decoupled
    double beta1 = 0.9;       ///< adamw
    double beta2 = 0.999;     ///< adamw
    double epsilon = 1e-8;    ///< adamw

    bool operator==(const OptimizerSpec&) const = default;
};

enum class ScheduleKind : std::uint8_t { constant, cosine };
enum class ScheduleScale : std::uint8_t { none, sqrt, linear };

struct ScheduleSpec {
    ScheduleKind kind = ScheduleKind::cosine;
    double base_lr = 0.05;
    double warmup = 0.02;  ///< fraction of the mesh's work
    double final_lr = 0.001;
    ScheduleScale scale = ScheduleScale::sqrt;  ///< with the size of the mesh

    bool operator==(const ScheduleSpec&) const = default;
};

/// What a local step does besides the optimizer's (core/train/local_rule has the formulas).
enum class Local : std::uint8_t {
    plain,
    compensate,    ///< a late displacement is corrected by lambda * g * g * d (Zheng et al. 2017)
    anchor,        ///< with probability p a step pulls towards the outer anchor (Naganuma 2025)
    quasi_global,  ///< momentum from how the replica moved, mixing included (Lin et al. 2021)
    global_hint,   ///< steps are bent by the last round's mean movement (Xu et al. 2020)
    predict,       ///< gradients are taken where momentum will have led (Chen et al. 2018)
};

struct LocalSpec {
    Local kind = Local::plain;
    double a = 0;  ///< lambda, p, mu or beta
    double b = 0;  ///< of `anchor`: its strength

    bool operator==(const LocalSpec&) const = default;
};

/// An outer step: momentum on how far a replica has come since the last one (core/train/outer).
struct OuterSettings {
    double rate = 1;
    double momentum = 0;
    bool looks_ahead = true;  ///< Nesterov; else heavy ball
    double strength = 1;      ///< share of the step that is taken, in [0, 1]
};

}  // namespace p2p::core
