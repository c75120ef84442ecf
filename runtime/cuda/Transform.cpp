//===- Transform.cpp - Fourier transforms of a program, by cuFFT ------------===//
#include "runtime/cuda/Transform.h"
#include <algorithm>
#include <fmt/format.h>

namespace hybrid::rt::cuda {

//===-- the library ------------------------------------------------------------===//

Result<std::unique_ptr<Cufft>> Cufft::open(const Gpu &gpu, uint64_t expectedWorkspace) {
  auto library = openCufft();
  if (!library)
    return library.error();
  return std::unique_ptr<Cufft>(new Cufft(gpu, **library, expectedWorkspace));
}

Cufft::~Cufft() {
  for (const Made &each : made)
    library.destroy(each.plan);
}

uint64_t Cufft::allocatedBytes() const {
  uint64_t bytes = 0;
  for (const GpuMemory &memory : workspaces)
    bytes += memory.size();
  return bytes;
}

Result<void> Cufft::check(std::string_view call, FftStatus status) const {
  if (status)
    return Error{cuda::describe(library, call, status)};
  return {};
}

Result<FftPlan> Cufft::plan(const TransformShape &shape) {
  for (const Made &each : made)
    if (each.shape == shape)
      return each.plan;
  FftPlan plan = 0;
  if (auto done = check("cufftCreate", library.create(&plan)); !done)
    return done.error();
  if (auto done = prepare(plan, shape); !done) {
    library.destroy(plan);
    return done.error();
  }
  made.push_back({shape, plan});
  return plan;
}

Result<void> Cufft::prepare(FftPlan plan, const TransformShape &shape) {
  if (auto done = check("cufftSetAutoAllocation", library.setAutoAllocation(plan, 0)); !done)
    return done;
  // Element t of a signal is `signals` behind the one before; signals are neighbours.
  long long points = shape.points, bins = shape.points / 2 + 1, signals = shape.signals;
  long long &from = shape.inverse ? bins : points, &to = shape.inverse ? points : bins;
  const bool wide = shape.type == DType::F64;
  const int type = shape.inverse ? (wide ? fftInverseF64 : fftInverseF32)
                                 : (wide ? fftForwardF64 : fftForwardF32);
  size_t bytes = 0;
  if (auto done =
          check("cufftMakePlanMany64", library.makePlan(plan, 1, &points, &from, signals, 1, &to,
                                                        signals, 1, type, signals, &bytes));
      !done)
    return done;
  if (auto done = check("cufftSetStream", library.setStream(plan, gpu.stream())); !done)
    return done;
  auto room = workspace(bytes);
  if (!room)
    return room.error();
  return check("cufftSetWorkArea", library.setWorkspace(plan, reinterpret_cast<void *>(*room)));
}

Result<DeviceAddress> Cufft::workspace(uint64_t bytes) {
  if (bytes == 0)
    return DeviceAddress(0);
  if (workspaces.empty() || workspaces.back().size() < bytes) {
    // Plans that were made before have the earlier ones.
    const uint64_t wanted = std::max(bytes, expectedWorkspace);
    auto memory = GpuMemory::allocate(gpu, wanted);
    if (!memory)
      return Error{fmt::format("no memory for {} bytes of cuFFT's workspace: {}; a smaller --batch "
                               "or --length takes less",
                               wanted, memory.error().message)};
    workspaces.push_back(std::move(*memory));
  }
  return workspaces.back().address();
}

//===-- calls ------------------------------------------------------------------===//

Result<std::unique_ptr<Transform>> Transform::create(Cufft &cufft, const TransformShape &shape,
                                                     DeviceAddress real, DeviceAddress spectrum) {
  auto plan = cufft.plan(shape);
  if (!plan)
    return plan.error();
  return std::unique_ptr<Transform>(new Transform(cufft, shape, *plan, real, spectrum));
}

Result<void> Transform::run() const {
  const CufftApi &api = cufft.api();
  auto *numbers = reinterpret_cast<void *>(real), *complex = reinterpret_cast<void *>(spectrum);
  std::string_view call;
  FftStatus status = 0;
  if (shape.type == DType::F64) {
    auto *x = static_cast<double *>(numbers);
    auto *z = static_cast<FftComplexF64 *>(complex);
    call = shape.inverse ? "cufftExecZ2D" : "cufftExecD2Z";
    status = shape.inverse ? api.inverseF64(plan, z, x) : api.forwardF64(plan, x, z);
  } else {
    auto *x = static_cast<float *>(numbers);
    auto *z = static_cast<FftComplexF32 *>(complex);
    call = shape.inverse ? "cufftExecC2R" : "cufftExecR2C";
    status = shape.inverse ? api.inverseF32(plan, z, x) : api.forwardF32(plan, x, z);
  }
  if (status)
    return Error{cuda::describe(api, call, status)};
  return {};
}

} // namespace hybrid::rt::cuda
