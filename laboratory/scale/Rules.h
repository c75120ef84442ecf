//===- Rules.h - batch size and learning rate by budget and size -----------------------===//
//
// The tables stand in papers/presets.json, as `hybrid-run train --preset mad-scaling` takes them.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>
#include <vector>

namespace hybrid::rt::lab::scale {

/// Tokens of a batch: table D.1 of Poli et al. 2024, by budget in steps, and no more than 2^18
/// below 54M parameters. Below its least budget, 4e18 FLOPs, the batch falls as FLOPs^0.3271 (Bi et
/// al. 2024, "DeepSeek LLM", section 3.1) from the table's, to the nearest power of two; at least
/// 2^8.
double batchTokens(double flops, double params);

/// The highest learning rate: linear in the parameters between the rows of table D.2 of Poli et al.
/// 2024; below 8M the line of its first rows goes on, above 7B the rate stays. Below the least
/// budget of table D.1 it rises from the table's as FLOPs^-0.1250 (Bi et al. 2024, section 3.1).
double learningRate(double flops, double params);

/// The width of the smallest model of that table, of 8M parameters.
inline constexpr int64_t tableBaseWidth = 128;
/// The sizes of that table, in parameters.
std::vector<double> tableParams();

} // namespace hybrid::rt::lab::scale
