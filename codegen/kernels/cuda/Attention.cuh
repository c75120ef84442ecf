//===- Attention.cuh - attention in tiles -------------------------------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionBackward.cuh"
#include "codegen/kernels/cuda/AttentionForward.cuh"
