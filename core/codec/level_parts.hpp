#pragma once

// What the files of one kernel level (kernels_*level.cpp) hand to the level's table.
//
// Only they include it, each compiled with P2P_KERNEL_NAMESPACE; the table and what every function
// promises is core/codec/kernel_table.

#include "core/codec/kernel_table.hpp"

namespace p2p::kernels::P2P_KERNEL_NAMESPACE {

void keep_topk(const float* values, std::size_t count, std::size_t keep, core::TopkChunk& out);

std::uint32_t encode_modulo(
    const float* values,
    std::size_t count,
    core::ModuloGrid grid,
    std::uint8_t* codes,
    float* rebuilt);
std::uint32_t decode_modulo(
    const std::uint8_t* codes,
    const float* near,
    std::size_t count,
    core::ModuloGrid grid,
    float* rebuilt);
core::Apart measure_apart(const float* a, const float* b, std::size_t count);

}  // namespace p2p::kernels::P2P_KERNEL_NAMESPACE
