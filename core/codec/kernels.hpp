#pragma once

// Chooses the table of arithmetic for a kernel level.
//
// main() asks the processor once (core/base/cpu) and hands the table down; nothing here asks.

#include "core/base/cpu.hpp"
#include "core/codec/kernel_table.hpp"

namespace p2p::core {

/// The table of `level`; it lives as long as the program. @pre this processor runs `level`
[[nodiscard]] const Kernels& kernels(KernelLevel level);

}  // namespace p2p::core
