//===- Attention.h - attention of a program, by cuDNN -----------------------===//
#pragma once
#include "executable/AttentionMemory.h"
#include "runtime/cuda/CudnnAttention.h"
#include "runtime/cuda/Gpu.h"
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

/// The library's handle, and the workspace that all attention of a device shares.
class Cudnn {
public:
  /// `expectedWorkspace`: bytes that workspace() will be asked for, as far as that is known.
  static Result<std::unique_ptr<Cudnn>> open(const Gpu &gpu, uint64_t expectedWorkspace = 0);
  ~Cudnn();
  Cudnn(const Cudnn &) = delete;
  Cudnn &operator=(const Cudnn &) = delete;

  DnnHandle handle() const { return context; }
  const CudnnApi &api() const { return library; }
  /// The plan for a shape: choosing an engine and compiling it takes about a second, and the layers
  /// of a model are alike.
  Result<std::shared_ptr<const AttentionPlan>> plan(const AttentionShape &shape);
  uint64_t allocatedBytes() const;
  /// Memory for one call at a time.
  Result<DeviceAddress> workspace(uint64_t bytes);

private:
  Cudnn(const Gpu &gpu, const CudnnApi &library, uint64_t expectedWorkspace)
      : gpu(gpu), library(library), expectedWorkspace(expectedWorkspace) {}
  const Gpu &gpu;
  const CudnnApi &library;
  const uint64_t expectedWorkspace;
  DnnHandle context = nullptr;
  std::vector<std::shared_ptr<const AttentionPlan>> plans;
  std::vector<GpuMemory> workspaces;
};

/// Attention whose engine has been chosen, of tensors at fixed places. It runs part by part where
/// all of it would take too much workspace.
class Attention {
public:
  /// `goal`: bytes of workspace that parts are cut for.
  static Result<std::unique_ptr<Attention>> create(Cudnn &cudnn, const AttentionShape &shape,
                                                   const AttentionOperands &operands,
                                                   uint64_t goal = attentionWorkspaceGoal);
  size_t parts() const { return bound.size(); }
  /// Appends it to the stream.
  Result<void> run() const;

private:
  explicit Attention(const Cudnn &cudnn) : cudnn(cudnn) {}
  const Cudnn &cudnn;
  std::shared_ptr<const AttentionPlan> plan;
  std::vector<DnnObject> bound; // of the parts
};

} // namespace hybrid::rt::cuda
