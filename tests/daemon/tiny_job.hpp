#pragma once

// A job that trains in milliseconds: 4 x 4 images of three shapes, in MNIST's files, and a spec of
// it with its canonical bytes.

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/check.hpp"
#include "core/base/rng.hpp"
#include "core/node/effect.hpp"
#include "proto/spec.hpp"
#include "tests/daemon/temp_folder.hpp"

namespace p2p::daemon {

inline void append_be32(std::string& text, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
        text += static_cast<char>(value >> shift);
}

/// `count` noisy images, label i % 3 brightens its own third of the pixels.
inline void put_images(
    const std::filesystem::path& folder, const std::string& part, std::uint32_t count) {
    std::string images;
    std::string labels;
    append_be32(images, 0x00000803);
    append_be32(images, count);
    append_be32(images, 4);
    append_be32(images, 4);
    append_be32(labels, 0x00000801);
    append_be32(labels, count);
    core::Rng rng(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (std::uint32_t pixel = 0; pixel < 16; ++pixel) {
            const std::uint64_t bright = pixel % 3 == i % 3 ? 150 : 0;
            images += static_cast<char>(bright + rng.below(100));
        }
        labels += static_cast<char>(i % 3);
    }
    put_text(folder / (part + "-images-idx3-ubyte"), images);
    put_text(folder / (part + "-labels-idx1-ubyte"), labels);
}

inline void put_tiny_set(const std::filesystem::path& folder) {
    put_images(folder, "train", 300);
    put_images(folder, "t10k", 60);
}

inline std::string tiny_toml(const std::string& name, const std::string& more = "") {
    return "[job]\nname = \"" + name + "\"\nseed = 7\n"
           "[model]\nkind = \"mlp\"\nlayers = [16, 8, 3]\n"
           "[data]\nset = \"tiny\"\n"
           "[train]\nsamples = 6400\nbatch_size = 16\n"
           "[schedule]\nbase_lr = 0.05\n"
           + more;
}

inline proto::ParsedSpec parsed(const std::string& toml) {
    auto spec = proto::parse_spec_toml(toml);
    if (!spec) std::fprintf(stderr, "%s\n", spec.error().text().c_str());
    P2P_CHECK(spec.has_value());
    return *std::move(spec);
}

inline core::StartTraining start_of(const proto::ParsedSpec& spec) {
    core::StartTraining order;
    order.job = spec.id;
    order.spec = std::make_shared<const core::JobSpec>(spec.spec);
    order.spec_bytes = std::make_shared<const core::Bytes>(spec.canonical);
    order.set_folder_name = spec.spec.data.set;
    return order;
}

inline core::Pace pace_of(
    const proto::ParsedSpec& spec, std::uint64_t step_limit, std::uint64_t samples_total) {
    core::Pace pace;
    pace.job = spec.id;
    pace.step_limit = core::StepCount{step_limit};
    pace.samples_total = core::SampleCount{samples_total};
    return pace;
}

inline core::PeerId peer_id(std::uint8_t first_byte) {
    core::PeerId id;
    id.bytes[0] = first_byte;
    return id;
}

}  // namespace p2p::daemon
