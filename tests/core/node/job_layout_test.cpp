// Codecs by layer: what a recipe says of tensors, in shards.

#include "core/node/job_layout.hpp"

#include <gtest/gtest.h>

namespace p2p::core {
namespace {

JobSpec mlp() {
    JobSpec spec;
    spec.model.layers = {784, 128, 10};
    return spec;
}

Recipe recipe_of(const std::string& codec, std::map<std::string, std::string> axes = {}) {
    axes["codec"] = codec;
    return resolve_recipe("ad-psgd", axes, 16).value();
}

TEST(JobLayout, PutsTensorsOfOneCodecIntoShardsOfTheirOwnAndCoversAll) {
    const JobSpec spec = mlp();
    for (const std::string shards : {"all", "ready", "staggered(4)"}) {
        SCOPED_TRACE(shards);
        const Recipe recipe = recipe_of("delta(q4) *.bias=fp32", {{"shards", shards}});
        const Layout layout = layout_of(spec, recipe);
        const auto codecs = shard_codecs(layout, recipe);
        ASSERT_EQ(layout.shard_count(), codecs.size());
        std::vector<int> covered(layout.floats());
        for (std::uint32_t i = 0; i < layout.shard_count(); ++i) {
            const ShardRange range = layout.shard(ShardIndex{i});
            for (const TensorInfo& tensor : layout.tensors()) {
                const bool is_inside = tensor.offset < range.offset + range.floats
                                       && range.offset < tensor.offset + tensor.size();
                if (!is_inside) continue;
                EXPECT_EQ(recipe.layer_codec(tensor.name), codecs[i]);
            }
            for (std::uint64_t k = 0; k < range.floats; ++k)
                ++covered[range.offset + k];
        }
        EXPECT_EQ(std::vector<int>(layout.floats(), 1), covered);
    }
}

TEST(JobLayout, IsTheSameAsEverWhereNoLayerHasACodec) {
    const Recipe plain = recipe_of("delta(q4)");
    EXPECT_EQ(1U, layout_of(mlp(), plain).shard_count());
    EXPECT_TRUE(shard_codecs(layout_of(mlp(), plain), plain).empty());
}

TEST(JobLayout, NamesThePatternThatFitsNothingAndTheTensorsThatThereAre) {
    EXPECT_TRUE(check_layers(mlp(), recipe_of("q8 layers.1.*=fp16")));
    const Status status = check_layers(mlp(), recipe_of("q8 conv.*=fp16"));
    ASSERT_FALSE(status);
    EXPECT_NE(std::string::npos, status.error().what.find("conv.*"));
    EXPECT_NE(std::string::npos, status.error().next.find("layers.0.weight"));
}

}  // namespace
}  // namespace p2p::core
