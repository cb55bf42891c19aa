#pragma once

// What a model is made of: the tensors of a spec, whether the spec makes sense, and first values.
//
// Every node derives the layout and the first parameters from the spec and the seed alone, so
// nobody has to send them. Nothing here computes with the parameters; that is the learner's job.

#include <cstdint>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/learning.hpp"
#include "core/base/result.hpp"
#include "core/base/tensor.hpp"

namespace p2p::core {

/// The tensors of the flat parameter vector, in order and without gaps.
///
/// An mlp's layer i has "layers.i.weight" [out, in], row-major, and "layers.i.bias" [out], as
/// PyTorch's `state_dict` has them for `layers = nn.ModuleList` of `nn.Linear`.
/// @pre validate(spec) is ok
[[nodiscard]] std::vector<TensorInfo> model_tensors(const ModelSpec& spec);

/// `invalid` for a shape that cannot be built, `too_large` beyond parameters_max or tensors_max.
[[nodiscard]] Status validate(const ModelSpec& spec);

/// First values of an mlp: weights uniform, biases 0; a function of the spec and `seed` alone.
///
/// The bound is sqrt(6 / in) for `he` (He et al. 2015, arXiv:1502.01852) and sqrt(6 / (in + out))
/// for `xavier` (Glorot and Bengio 2010). Uniform and not normal, because it needs nothing but
/// correctly rounded operations: all machines draw the same bits, whatever their libm.
/// @pre validate(spec) is ok, spec.kind is mlp, parameters.size() is the model's count
void init_parameters(const ModelSpec& spec, std::uint64_t seed, MutableFloatView parameters);

/// What first values are drawn from; they can be had again at any time.
struct InitialDraw {
    ModelSpec model;
    std::uint64_t seed = 0;

    /// Those from `offset` on. @pre as for init_parameters; the range lies within the model
    [[nodiscard]] std::vector<float> values(std::uint64_t offset, std::uint64_t floats) const;
};

}  // namespace p2p::core
