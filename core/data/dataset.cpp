#include "core/data/dataset.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/check.hpp"
#include "core/base/limits.hpp"
#include "core/data/file.hpp"
#include "core/data/idx.hpp"

namespace p2p::core {

namespace {

/// An array, and the file that it came from for messages.
struct IdxFile {
    std::string path;
    IdxArray array;
};

struct Part {
    Samples samples;
    std::size_t features;
    std::string images_path;
};

std::string next_step() {
    return "put the files of the set there, or correct its folder under [datasets]";
}

Result<std::string> find_idx(const std::string& folder, const std::string& name) {
    const std::string plain = folder + "/" + name;
    if (is_regular_file(plain)) return plain;
    if (is_regular_file(plain + ".gz")) return plain + ".gz";
    return Error{
        ErrorCode::not_found,
        "no data file " + absolute_path(plain),
        is_folder(folder) ? "it is not there, nor with .gz" : "its folder is not there",
        next_step()};
}

Result<IdxFile> load_idx(const std::string& folder, const std::string& name) {
    const auto path = find_idx(folder, name);
    if (!path) return path.error();
    const auto bytes = read_file(*path, limits::idx_bytes_max);
    if (!bytes) return bytes.error();
    auto array = parse_idx(*bytes);
    if (!array) return array.error().with_context(absolute_path(*path));
    return IdxFile{absolute_path(*path), *std::move(array)};
}

Error wrong_shape(const std::string& path, const std::string& why) {
    return {ErrorCode::wrong_size, "the data file " + path + " does not fit", why, next_step()};
}

/// One part of the set: prefix is "train" or "t10k".
Result<Part> load_part(const std::string& folder, const std::string& prefix) {
    auto images = load_idx(folder, prefix + "-images-idx3-ubyte");
    if (!images) return images.error();
    auto labels = load_idx(folder, prefix + "-labels-idx1-ubyte");
    if (!labels) return labels.error();

    const std::size_t count = images->array.shape.front();
    if (labels->array.shape.size() != 1) {
        return wrong_shape(labels->path, "labels have one dimension");
    }
    if (labels->array.values.size() != count) {
        return wrong_shape(
            labels->path,
            std::to_string(labels->array.values.size()) + " labels for the " + std::to_string(count)
                + " images of " + images->path);
    }
    const std::size_t features = images->array.values.size() / count;
    return Part{
        {std::move(images->array.values), std::move(labels->array.values)}, features, images->path};
}

}  // namespace

Result<Dataset> load_dataset(const std::string& folder) {
    auto train = load_part(folder, "train");
    if (!train) return train.error();
    auto test = load_part(folder, "t10k");
    if (!test) return test.error();
    if (train->features != test->features) {
        return wrong_shape(
            test->images_path,
            "its images have " + std::to_string(test->features) + " pixels, those of "
                + train->images_path + " have " + std::to_string(train->features));
    }

    Dataset set;
    set.train = std::move(train->samples);
    set.test = std::move(test->samples);
    set.features = train->features;
    const auto largest = std::max(
        *std::max_element(set.train.labels.begin(), set.train.labels.end()),
        *std::max_element(set.test.labels.begin(), set.test.labels.end()));
    set.classes = std::size_t{largest} + 1;
    set.standardization = standardization_of(set.train.images);
    return set;
}

Standardization standardization_of(ByteView images) {
    P2P_CHECK(!images.empty());
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;
    for (const std::uint8_t pixel : images) {
        sum += pixel;
        squares += std::uint64_t{pixel} * pixel;
    }
    const auto count = static_cast<double>(images.size());
    const double mean = static_cast<double>(sum) / count;
    const double variance = static_cast<double>(squares) / count - mean * mean;
    return {mean / 255, variance > 0 ? std::sqrt(variance) / 255 : 1};
}

Status check_fit(const ModelSpec& spec, const Dataset& set) {
    if (spec.kind != ModelKind::mlp) return {};
    const std::string what = "the model does not fit the data set";
    if (spec.layers.front() != set.features) {
        return Error{
            ErrorCode::conflict,
            what,
            "it takes " + std::to_string(spec.layers.front()) + " inputs, the images have "
                + std::to_string(set.features) + " pixels",
            "set the first of model.layers to " + std::to_string(set.features)};
    }
    if (spec.layers.back() < set.classes) {
        return Error{
            ErrorCode::conflict,
            what,
            "it has " + std::to_string(spec.layers.back()) + " outputs, the set has "
                + std::to_string(set.classes) + " classes",
            "set the last of model.layers to at least " + std::to_string(set.classes)};
    }
    return {};
}

}  // namespace p2p::core
