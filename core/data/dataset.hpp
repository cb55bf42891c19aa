#pragma once

// A set of labelled images as bytes, and batches of it as standardized floats.
//
// The folder is laid out as MNIST's: train-images-idx3-ubyte, train-labels-idx1-ubyte and the same
// with t10k, each plain or with .gz. Pixels stay bytes in memory (a quarter of the floats) and are
// converted batch by batch (batch.hpp). What a node draws is the sampler's business.

#include <cstddef>
#include <string>

#include "core/base/bytes.hpp"
#include "core/base/learning.hpp"
#include "core/base/result.hpp"

namespace p2p::core {

struct Samples {
    Bytes images;  ///< [count, features]
    Bytes labels;  ///< [count]

    [[nodiscard]] std::size_t count() const { return labels.size(); }

    bool operator==(const Samples&) const = default;
};

/// input = (pixel / 255 - mean) / deviation, with one mean and deviation for all pixels.
struct Standardization {
    double mean = 0;       ///< of all pixels of the train set, in [0, 1]
    double deviation = 1;  ///< of the same; 1 where all pixels are equal

    bool operator==(const Standardization&) const = default;
};

struct Dataset {
    Samples train;
    Samples test;
    std::size_t features = 0;  ///< pixels of one image
    std::size_t classes = 0;   ///< largest label of both parts, plus one
    Standardization standardization;
};

/// Reads the four files; an error names the absolute path of the file that is at fault.
///
/// `not_found` where a file is missing; `wrong_size` where images and labels are not as many, or
/// the two parts' images have different sizes; else what read_file and parse_idx say.
[[nodiscard]] Result<Dataset> load_dataset(const std::string& folder);

/// Summed in integers, so exact and the same everywhere. @pre !images.empty()
[[nodiscard]] Standardization standardization_of(ByteView images);

/// Whether an mlp of `spec` can learn `set`: its inputs are the features, its outputs hold the
/// classes. `conflict` says which of the two does not fit; an external model always does.
[[nodiscard]] Status check_fit(const ModelSpec& spec, const Dataset& set);

}  // namespace p2p::core
