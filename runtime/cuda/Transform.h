//===- Transform.h - Fourier transforms of a program, by cuFFT --------------===//
#pragma once
#include "runtime/Executable.h"
#include "runtime/cuda/CufftApi.h"
#include "runtime/cuda/Gpu.h"
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

/// Of `signals` columns side by side, [points, signals] real and [points / 2 + 1, signals] complex
/// numbers, of f32 or f64.
struct TransformShape {
  int64_t points = 0, signals = 0;
  bool inverse = false;
  DType type = DType::F32;
  bool operator==(const TransformShape &) const = default;
};

/// The library's plans, and the workspace that all transforms of a device share.
class Cufft {
public:
  /// `expectedWorkspace`: bytes that plans are expected to ask for.
  static Result<std::unique_ptr<Cufft>> open(const Gpu &gpu, uint64_t expectedWorkspace = 0);
  ~Cufft();
  Cufft(const Cufft &) = delete;
  Cufft &operator=(const Cufft &) = delete;

  const CufftApi &api() const { return library; }
  /// The plan for a shape, with a workspace of ours, so that it can be captured. Made once.
  Result<FftPlan> plan(const TransformShape &shape);
  size_t plans() const { return made.size(); }
  uint64_t allocatedBytes() const;

private:
  Cufft(const Gpu &gpu, const CufftApi &library, uint64_t expectedWorkspace)
      : gpu(gpu), library(library), expectedWorkspace(expectedWorkspace) {}
  Result<void> prepare(FftPlan plan, const TransformShape &shape);
  Result<DeviceAddress> workspace(uint64_t bytes);
  Result<void> check(std::string_view call, FftStatus status) const;

  struct Made {
    TransformShape shape;
    FftPlan plan;
  };
  const Gpu &gpu;
  const CufftApi &library;
  const uint64_t expectedWorkspace;
  std::vector<Made> made;
  std::vector<GpuMemory> workspaces;
};

/// A transform of buffers at fixed places. The inverse may overwrite the spectrum.
class Transform {
public:
  static Result<std::unique_ptr<Transform>> create(Cufft &cufft, const TransformShape &shape,
                                                   DeviceAddress real, DeviceAddress spectrum);
  /// Appends it to the stream.
  Result<void> run() const;

private:
  Transform(const Cufft &cufft, const TransformShape &shape, FftPlan plan, DeviceAddress real,
            DeviceAddress spectrum)
      : cufft(cufft), shape(shape), plan(plan), real(real), spectrum(spectrum) {}
  const Cufft &cufft;
  const TransformShape shape;
  const FftPlan plan;
  const DeviceAddress real, spectrum;
};

} // namespace hybrid::rt::cuda
