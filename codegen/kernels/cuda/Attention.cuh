//===- Attention.cuh - attention in tiles, and of whole heads -----------------===//
#pragma once
#include "codegen/kernels/cuda/AttentionBackward.cuh"
#include "codegen/kernels/cuda/AttentionForward.cuh"
#include "codegen/kernels/cuda/AttentionWhole.cuh"
