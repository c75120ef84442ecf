//===- Plan.h - a program as the calls it makes -----------------------------===//
//
// Addresses never change once a session's spaces are there, so a program becomes a flat list of
// launches and products with their final arguments; tiles follow one another.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/cuda/Attention.h"
#include "runtime/cuda/Branches.h"
#include "runtime/cuda/CodeModule.h"
#include "runtime/cuda/Collective.h"
#include "runtime/cuda/Product.h"
#include "runtime/cuda/Staging.h"
#include "runtime/cuda/Transform.h"
#include <functional>
#include <memory>
#include <vector>

namespace hybrid::rt::cuda {

/// One launch, one product, attention, a transform, or what ranks do together.
struct Operation {
  const fb::Step *step = nullptr;
  unsigned stepNumber = 0; // in the program; of the loop when it is in one
  Gpu::Launch launch;
  std::vector<uint64_t> values; // of the parameters: addresses, then the first item
  /// What a launch may reach, for a driver that asks: all begins, then bytes, then strides.
  std::vector<uint64_t> reaches;
  const Attention *attention = nullptr;
  const Product *product = nullptr;
  const Transform *transform = nullptr;
  const Collective *collective = nullptr;
  DeviceAddress a = 0, b = 0, c = 0, addend = 0; // no addend: 0
};

/// What a plan is made with. The libraries are opened when the first step needs them.
struct PlanParts {
  const Gpu &gpu;
  CodeModule &code;
  std::function<Result<Blas *>()> blas;
  std::function<Result<Cudnn *>()> cudnn;
  std::function<Result<Cufft *>()> cufft;
  GpuRanks *ranks = nullptr; // null: there are no others
  DevicePlaces places;       // with the replicas that run
};

class Plan {
public:
  static Result<Plan> create(const fb::Program &program, const PlanParts &parts);
  const std::vector<Operation> &operations() const { return list; }
  /// Whether all ranks run it together: none can run a part of it alone.
  bool goesOverRanks() const { return !collectives.empty(); }

  /// Appends an operation to the stream of a branch; on that of branch 0 all of them may follow one
  /// another. The error names it.
  static Result<void> issue(const Gpu &gpu, const Operation &operation, unsigned branch = 0,
                            bool mayOverlap = true);
  /// Appends all operations to the streams of their branches, which part from the first stream and
  /// join it again.
  Result<void> issueOnBranches(const Gpu &gpu) const;

private:
  Result<void> add(const fb::Step &step, unsigned number, const fb::TileLoop *loop, int64_t tile,
                   const PlanParts &parts);
  Result<void> addLaunch(const fb::Step &step, const fb::TileLoop *loop, int64_t tile,
                         const PlanParts &parts);
  Result<void> addProduct(const fb::Step &step, const fb::TileLoop *loop, int64_t tile,
                          const PlanParts &parts);
  Result<void> addAttention(const fb::Step &step, const PlanParts &parts);
  Result<void> addTransform(const fb::Step &step, const PlanParts &parts);
  Result<void> addCollective(const fb::Step &step, const PlanParts &parts);
  Result<const Product *> makeProduct(Blas &blas, const ProductShape &shape);
  std::vector<Operation> list;
  std::unique_ptr<Branches> branches; // null: there is one
  std::vector<std::unique_ptr<Product>> products;
  std::vector<std::unique_ptr<Attention>> attentions;
  std::vector<std::unique_ptr<Transform>> transforms;
  std::vector<std::unique_ptr<Collective>> collectives;
};

/// "kernel 'scan' (ssm at model.hyb:3:7)", "matrix product 4 x 5 x 6 (...)": for errors.
std::string describe(const fb::Step &step);

/// Finds the kernels and libraries of all steps: what can be refused before memory is there.
Result<void> checkKernels(const fb::Program &program, CodeModule &code);

} // namespace hybrid::rt::cuda
