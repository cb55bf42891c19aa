#include "core/node/job_layout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/limits.hpp"
#include "core/nn/model.hpp"

namespace p2p::core {

Layout layout_of(const JobSpec& spec, const Recipe& recipe) {
    std::vector<TensorInfo> tensors = model_tensors(spec.model);
    const auto is_one_kind = [&](const TensorInfo& a, const TensorInfo& b) {
        return recipe.layer_codec(a.name) == recipe.layer_codec(b.name);
    };
    const bool is_by_layer = recipe.shards.kind == Shards::ready;
    if (is_by_layer) return Layout::by_layer(std::move(tensors), is_one_kind);
    // Recipes that take parts of the model in turn need as many shards as parts.
    const std::uint64_t parts = recipe.shards.parts;
    const std::uint64_t part = (parameter_count(tensors) + parts - 1) / parts;
    const std::uint64_t floats_max = std::min<std::uint64_t>(part, limits::shard_floats_max);
    if (recipe.layer_codecs.empty()) return Layout(std::move(tensors), floats_max);
    return Layout::by_kind(std::move(tensors), is_one_kind, floats_max);
}

std::vector<std::optional<CodecId>> shard_codecs(const Layout& layout, const Recipe& recipe) {
    std::vector<std::optional<CodecId>> codecs;
    if (recipe.layer_codecs.empty()) return codecs;
    for (std::uint32_t i = 0; i < layout.shard_count(); ++i) {
        const std::uint64_t first = layout.shard(ShardIndex{i}).offset;
        const auto after = std::upper_bound(
            layout.tensors().begin(),
            layout.tensors().end(),
            first,
            [](std::uint64_t offset, const TensorInfo& tensor) { return offset < tensor.offset; });
        codecs.push_back(recipe.layer_codec(std::prev(after)->name));
    }
    return codecs;
}

Status check_layers(const JobSpec& spec, const Recipe& recipe) {
    const std::vector<TensorInfo> tensors = model_tensors(spec.model);
    for (const LayerCodec& rule : recipe.layer_codecs) {
        const bool fits = std::any_of(tensors.begin(), tensors.end(), [&](const TensorInfo& each) {
            return rule.fits(each.name);
        });
        if (fits) continue;
        std::string known;
        constexpr std::size_t known_max = 8;
        for (std::size_t i = 0; i < std::min(tensors.size(), known_max); ++i)
            known += (i == 0 ? "" : ", ") + tensors[i].name;
        if (tensors.size() > known_max) known += ", ...";
        return Error{
            ErrorCode::invalid,
            "mixing.codec: " + rule.pattern,
            "no tensor of the model has such a name",
            "the tensors are " + known + "; * stands for any letters"};
    }
    return {};
}

}  // namespace p2p::core
