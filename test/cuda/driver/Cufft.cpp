//===- Cufft.cpp - the tests' cuFFT ----------------------------------------===//
//
// Transforms of real numbers in one dimension and back, of any length, in double precision by
// prime factors. A plan must not allocate by itself, wants its workspace and a stream, and uses
// what it may: the workspace, and of an inverse the spectrum, are garbage behind it.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CufftApi.h"
#include "test/cuda/driver/Device.h"
#include <cmath>
#include <complex>
#include <cstring>
#include <map>

using namespace hybrid::rt::cuda;
using namespace hybrid::shim;

namespace {

constexpr FftStatus fftInvalidPlan = 0x1, fftInvalidType = 0x3, fftInvalidValue = 0x4,
                    fftExecFailed = 0x6, fftInvalidSize = 0x8, fftUnalignedData = 0x9,
                    fftNoWorkspace = 0xd;

using Number = std::complex<double>;

struct Layout {
  int64_t stride, distance;
  int64_t extent(int64_t count, int64_t batch) const {
    return (count - 1) * stride + (batch - 1) * distance + 1;
  }
};

struct Plan {
  bool allocates = true, made = false, hasStream = false;
  int type = 0;
  int64_t points = 0, batch = 0;
  Layout from{}, to{};
  uint64_t workspaceBytes = 0, workspace = 0;
  Stream stream = nullptr;

  bool isInverse() const { return type == fftInverseF32 || type == fftInverseF64; }
  size_t elementBytes() const { return type == fftForwardF64 || type == fftInverseF64 ? 8 : 4; }
};

struct Library {
  std::map<FftPlan, Plan> plans;
  FftPlan next = 1;
};
Library &library() {
  static auto *all = new Library();
  return *all;
}

Plan *find(FftPlan plan) {
  auto found = library().plans.find(plan);
  return found == library().plans.end() ? nullptr : &found->second;
}

/// Transforms of one length: result[k] = sum over t of x[t] e^(-2 pi i k t / points).
class Fourier {
public:
  explicit Fourier(size_t points) : roots(points) {
    for (size_t i = 0; i < points; ++i)
      roots[i] = std::polar(1.0, -2 * M_PI * static_cast<double>(i) / static_cast<double>(points));
  }
  std::vector<Number> operator()(const std::vector<Number> &x) const {
    std::vector<Number> result(x.size());
    run(x.data(), 1, result.data(), x.size());
    return result;
  }

private:
  /// Of `count` points `stride` apart, where count * stride are all points.
  void run(const Number *x, size_t stride, Number *result, size_t count) const {
    if (count == 1) {
      *result = *x;
      return;
    }
    size_t factor = 2;
    while (count % factor != 0)
      factor = factor * factor > count ? count : factor + 1;
    const size_t rest = count / factor;
    for (size_t r = 0; r < factor; ++r)
      run(x + r * stride, stride * factor, result + r * rest, rest);
    std::vector<Number> parts(factor);
    for (size_t k = 0; k < rest; ++k) {
      for (size_t r = 0; r < factor; ++r)
        parts[r] = result[r * rest + k] * roots[r * k * stride];
      for (size_t q = 0; q < factor; ++q) {
        Number sum = 0;
        for (size_t r = 0; r < factor; ++r)
          sum += parts[r] * roots[r * q % factor * rest * stride];
        result[q * rest + k] = sum;
      }
    }
  }
  std::vector<Number> roots;
};

template <typename T> void forward(const Plan &plan, const T *from, std::complex<T> *to) {
  const Fourier fourier(static_cast<size_t>(plan.points));
  std::vector<Number> x(static_cast<size_t>(plan.points));
  for (int64_t signal = 0; signal < plan.batch; ++signal) {
    for (int64_t t = 0; t < plan.points; ++t)
      x[static_cast<size_t>(t)] = from[signal * plan.from.distance + t * plan.from.stride];
    std::vector<Number> spectrum = fourier(x);
    for (int64_t k : {int64_t(0), plan.points / 2})
      if (2 * k % plan.points == 0) // its own conjugate
        spectrum[static_cast<size_t>(k)].imag(0);
    for (int64_t k = 0; k <= plan.points / 2; ++k)
      to[signal * plan.to.distance + k * plan.to.stride] =
          std::complex<T>(spectrum[static_cast<size_t>(k)]);
  }
}

template <typename T> void inverse(const Plan &plan, const std::complex<T> *from, T *to) {
  const Fourier fourier(static_cast<size_t>(plan.points));
  std::vector<Number> spectrum(static_cast<size_t>(plan.points));
  for (int64_t signal = 0; signal < plan.batch; ++signal) {
    // x is real: its transform is the conjugate of that of the conjugate spectrum.
    for (int64_t k = 0; k <= plan.points / 2; ++k) {
      const Number value(from[signal * plan.from.distance + k * plan.from.stride]);
      spectrum[static_cast<size_t>((plan.points - k) % plan.points)] = value;
      spectrum[static_cast<size_t>(k)] = std::conj(value);
    }
    const std::vector<Number> x = fourier(spectrum);
    for (int64_t t = 0; t < plan.points; ++t)
      to[signal * plan.to.distance + t * plan.to.stride] =
          static_cast<T>(x[static_cast<size_t>(t)].real());
  }
}

/// What of an inverse's spectrum is read although it must be real; the library's answer is not
/// known then.
template <typename T> bool hasImaginaryEnds(const Plan &plan, const std::complex<T> *spectrum) {
  for (int64_t signal = 0; signal < plan.batch; ++signal)
    for (int64_t bin : {int64_t(0), plan.points / 2})
      if (bin == 0 || plan.points % 2 == 0)
        if (spectrum[signal * plan.from.distance + bin * plan.from.stride].imag() != 0)
          return true;
  return false;
}

template <typename T> Status compute(const Plan &plan, void *from, void *to) {
  std::memset(reinterpret_cast<void *>(plan.workspace), 0xff, plan.workspaceBytes);
  if (!plan.isInverse()) {
    forward(plan, static_cast<const T *>(from), static_cast<std::complex<T> *>(to));
    return success;
  }
  auto *spectrum = static_cast<std::complex<T> *>(from);
  if (hasImaginaryEnds(plan, spectrum))
    return device().failForEver(errorLaunchFailed,
                                "cuFFT: a spectrum whose first or last number is not real");
  inverse(plan, spectrum, static_cast<T *>(to));
  for (int64_t signal = 0; signal < plan.batch; ++signal)
    for (int64_t k = 0; k <= plan.points / 2; ++k)
      spectrum[signal * plan.from.distance + k * plan.from.stride] = T(NAN);
  return success;
}

FftStatus execute(const char *call, FftPlan handle, int type, void *from, void *to) {
  std::lock_guard lock(device().mutex);
  const Plan *plan = find(handle);
  if (!plan || !plan->made || plan->type != type)
    return fftInvalidPlan;
  if (plan->workspaceBytes && !plan->workspace)
    return fftNoWorkspace;
  if (!plan->hasStream)
    return fftInvalidPlan;
  const int64_t bins = plan->points / 2 + 1;
  const size_t real = plan->elementBytes(), complex = 2 * real;
  struct Side {
    uint64_t address, bytes;
    size_t alignment;
  };
  auto side = [&](void *memory, const Layout &layout, bool isReal) {
    const auto elements =
        static_cast<uint64_t>(layout.extent(isReal ? plan->points : bins, plan->batch));
    const size_t each = isReal ? real : complex;
    return Side{reinterpret_cast<uint64_t>(memory), elements * each, each};
  };
  const Side sides[] = {side(from, plan->from, !plan->isInverse()),
                        side(to, plan->to, plan->isInverse())};
  for (const Side &each : sides) {
    if (each.address % each.alignment)
      return fftUnalignedData;
    if (!device().memory.contains(each.address, each.bytes))
      return fftInvalidValue;
  }
  const bool overlap = sides[0].address < sides[1].address + sides[1].bytes &&
                       sides[1].address < sides[0].address + sides[0].bytes;
  if (overlap)
    return fftInvalidValue;
  return device().enqueue(call, plan->stream,
                          [copy = *plan, from, to] {
                            return copy.elementBytes() == 8 ? compute<double>(copy, from, to)
                                                            : compute<float>(copy, from, to);
                          }) == success
             ? success
             : fftExecFailed;
}

bool isSmooth(int64_t number) {
  for (int64_t prime : {2, 3, 5, 7})
    while (number % prime == 0)
      number /= prime;
  return number == 1;
}

} // namespace

HYBRID_DRIVER_CALL FftStatus cufftGetVersion(int *version) {
  *version = 12000;
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftCreate(FftPlan *plan) {
  std::lock_guard lock(device().mutex);
  if (device().readyOutsideCapture("cufftCreate"))
    return fftInvalidPlan;
  *plan = library().next++;
  library().plans[*plan] = {};
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftDestroy(FftPlan plan) {
  std::lock_guard lock(device().mutex);
  return library().plans.erase(plan) ? success : fftInvalidPlan;
}

HYBRID_DRIVER_CALL FftStatus cufftSetAutoAllocation(FftPlan handle, int allocates) {
  std::lock_guard lock(device().mutex);
  Plan *plan = find(handle);
  if (!plan || plan->made)
    return fftInvalidPlan;
  plan->allocates = allocates != 0;
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftMakePlanMany64(FftPlan handle, int rank, long long *sizes,
                                                 long long *fromEmbed, long long fromStride,
                                                 long long fromDistance, long long *toEmbed,
                                                 long long toStride, long long toDistance, int type,
                                                 long long batch, size_t *workspaceBytes) {
  std::lock_guard lock(device().mutex);
  Plan *plan = find(handle);
  if (!plan || plan->made || plan->allocates) // memory of its own cannot be captured
    return fftInvalidPlan;
  if (type != fftForwardF32 && type != fftInverseF32 && type != fftForwardF64 &&
      type != fftInverseF64)
    return fftInvalidType;
  if (rank != 1 || !sizes || *sizes < 1 || batch < 1)
    return fftInvalidSize;
  plan->type = type;
  const long long bins = *sizes / 2 + 1, from = plan->isInverse() ? bins : *sizes,
                  to = plan->isInverse() ? *sizes : bins;
  // Without these the library would take signals one behind the other, whatever the strides.
  if (!fromEmbed || !toEmbed || *fromEmbed < from || *toEmbed < to || fromStride < 1 ||
      toStride < 1 || fromDistance < 1 || toDistance < 1 || !workspaceBytes)
    return fftInvalidValue;
  plan->points = *sizes, plan->batch = batch;
  plan->from = {fromStride, fromDistance}, plan->to = {toStride, toDistance};
  plan->workspaceBytes = static_cast<uint64_t>(plan->points * plan->batch) * 2 *
                         plan->elementBytes() * (isSmooth(plan->points) ? 1 : 8);
  plan->made = true;
  *workspaceBytes = plan->workspaceBytes;
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftSetWorkArea(FftPlan handle, void *workspace) {
  std::lock_guard lock(device().mutex);
  Plan *plan = find(handle);
  if (!plan || !plan->made)
    return fftInvalidPlan;
  const auto address = reinterpret_cast<uint64_t>(workspace);
  if (!device().memory.contains(address, plan->workspaceBytes))
    return fftInvalidValue;
  plan->workspace = address;
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftSetStream(FftPlan handle, Stream stream) {
  std::lock_guard lock(device().mutex);
  Plan *plan = find(handle);
  if (!plan || !stream)
    return fftInvalidPlan;
  plan->stream = stream, plan->hasStream = true;
  return success;
}

HYBRID_DRIVER_CALL FftStatus cufftExecR2C(FftPlan plan, float *from, FftComplexF32 *to) {
  return execute("cufftExecR2C", plan, fftForwardF32, from, to);
}
HYBRID_DRIVER_CALL FftStatus cufftExecC2R(FftPlan plan, FftComplexF32 *from, float *to) {
  return execute("cufftExecC2R", plan, fftInverseF32, from, to);
}
HYBRID_DRIVER_CALL FftStatus cufftExecD2Z(FftPlan plan, double *from, FftComplexF64 *to) {
  return execute("cufftExecD2Z", plan, fftForwardF64, from, to);
}
HYBRID_DRIVER_CALL FftStatus cufftExecZ2D(FftPlan plan, FftComplexF64 *from, double *to) {
  return execute("cufftExecZ2D", plan, fftInverseF64, from, to);
}
