//===- ReplicaStride.h - where the replicas of a program lie -----------------===//
//
// Replicas are independent trainings of one compiled program. A space of memory that is replicated
// holds that of replica r from byte r * stride on. The compiler writes strides into CUDA kernels
// and the runtime allocates by them, so both ask this file.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstdint>

namespace hybrid {

constexpr int64_t mostReplicas = 1024;

/// Distance of replicas in a space of which one takes `bytes`: what is aligned in one is in all.
constexpr uint64_t replicaStride(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

} // namespace hybrid
