//===- RecomputePlan.h - what to keep and what to compute again -------------===//
//
// The search behind `hybrid-recompute`, on numbers only: which results to give up for a while so
// that the most that is alive at once becomes small, at the least cost. (Selective
// rematerialisation; Chen et al. 2016, "Training deep nets with sublinear memory cost".)
//
//===----------------------------------------------------------------------===//
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace hybrid {

/// The functions's ops in order, as the search sees them.
struct RecomputeGraph {
  struct Node {
    llvm::SmallVector<int32_t, 4> producers; // nodes whose results it reads
    llvm::SmallVector<int32_t, 4> reads;     // storages, beside `producers`; -1: takes no memory
    llvm::SmallVector<int32_t, 2> writes;    // storages of its results
    int32_t unit = -1;     // nodes that share storages are given up together; -1: never
    double cost = 0;       // of running it
    bool required = false; // runs even when nobody reads its results
  };
  struct Storage {
    int64_t bytes = 0;
    bool input = false, output = false; // alive before the first, after the last op
  };
  std::vector<Node> nodes;
  std::vector<Storage> storages;
  int32_t units = 0;
};

/// A run of a node: the original (version 0), or one that gives its results again.
struct RecomputeStep {
  int32_t node = 0;
  int32_t version = 0;
  int32_t at = 0; // the original node it runs right before; itself for an original
  llvm::SmallVector<int32_t, 4> producerVersions;
};

class RecomputePlan {
public:
  explicit RecomputePlan(const RecomputeGraph &graph);

  /// Gives up results until at most `budget` bytes are alive at once, or nothing more helps: then
  /// the plan with the lowest peak that was met.
  void reduce(int64_t budget);

  const std::vector<RecomputeStep> &steps() const { return best.steps; }
  int64_t peakBytes() const { return best.peak; }
  /// Cost of all steps.
  double cost() const { return best.cost; }

private:
  /// For every unit the nodes behind which its results are given up, in order.
  using Splits = std::vector<llvm::SmallVector<int32_t, 2>>;
  struct Program {
    std::vector<RecomputeStep> steps;
    std::vector<int64_t> live; // bytes at each step
    int64_t peak = 0;
    int64_t peakStep = 0;
    double cost = 0;
  };
  struct Lifetime {
    int32_t first = INT32_MAX, last = -1;
  };

  Program evaluate(const Splits &splits) const;
  void place(Program &program, const Splits &splits) const;
  void dropUnused(Program &program) const;
  void measure(Program &program) const;
  /// Which units the current program touches before its peak, at the place of the peak, and behind.
  struct AroundPeak {
    int32_t place = 0;
    std::vector<char> before, at, behind;
  };
  AroundPeak aroundPeak() const;
  /// Adds to `trial` that the unit is given up at the peak, and `withSources` all that it is
  /// computed from and nobody else keeps until it is. False: that often is too often.
  bool giveUp(Splits &trial, int32_t unit, const AroundPeak &around, bool withSources) const;
  void search(int64_t budget, bool maySources);
  bool improve(double level, bool maySources);
  void keepMore(int64_t budget);

  const RecomputeGraph &graph;
  std::vector<llvm::SmallVector<int32_t, 2>> members; // nodes of each unit
  Splits splits, bestSplits;
  Program current, best;
  llvm::DenseMap<int32_t, double> lastScore; // of units
};

} // namespace hybrid
