//===- Verifier.h - the parts of the check of an executable ------------------===//
#pragma once
#include "executable/Executable_generated.h"
#include "runtime/Executable.h"
#include "runtime/KernelShapes.h"
#include "runtime/Result.h"
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace hybrid::rt::verifier {

template <typename... Args> Error error(fmt::format_string<Args...> text, Args &&...args) {
  return Error{fmt::format(text, std::forward<Args>(args)...)};
}

/// Names go into messages, terminals and file names: no control characters, no folders, not
/// endless.
bool isSoundName(std::string_view name);

inline std::string_view viewOf(const flatbuffers::String *text) {
  return text ? std::string_view(text->data(), text->size()) : std::string_view();
}

/// Flatbuffers checks where a vector begins, but not that its 8-byte elements are aligned.
template <typename T> bool isAligned(const flatbuffers::Vector<T> &vector) {
  // An empty vector (the shape of a scalar) has no elements to align.
  return vector.size() == 0 || reinterpret_cast<uintptr_t>(vector.Data()) % 8 == 0;
}

/// Checks one executable, part by part; each part stops at the first thing that is wrong.
class Verifier {
public:
  explicit Verifier(const fb::Executable &executable) : executable(executable) {}
  Result<void> run();

private:
  Result<void> checkTarget();
  Result<void> checkCpuCode() const;
  Result<void> checkImages() const;
  Result<void> checkSpaces() const;
  Result<void> checkReplicas() const;
  Result<void> checkParameters() const;
  Result<void> checkExamples() const;
  Result<void> checkStretches() const;
  Result<void> checkProgram(const fb::Program &program);
  Result<void> checkTensors(const flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>> *tensors,
                            std::string_view program, std::string_view kind) const;
  Result<void> checkReservedProgram(const fb::Program &program) const;
  Result<void> checkPortBytes(const fb::Program &program) const;
  Result<void> checkStep(const fb::Step &step, const std::string &where);
  Result<void> checkKernel(const fb::KernelLaunch &kernel, const std::string &where);
  Result<void> checkKernelShape(const fb::KernelLaunch &kernel, const std::string &where) const;
  bool mayWrite(const fb::BufferRef &buffer) const;
  uint64_t parametersEnd() const;
  Result<void> checkMatmul(const fb::Matmul &matmul, const std::string &where) const;
  Result<void> checkAttention(const fb::Attention &attention, const std::string &where);
  Result<void> checkTransform(const fb::Transform &transform, const std::string &where);
  Result<void> checkAllReduce(const fb::AllReduce &reduction, const std::string &where);
  Result<void> checkExchange(const fb::Exchange &exchange, const std::string &where);
  Result<void> checkAwait(const fb::Await &await, const std::string &where);
  Result<void> checkShared(const flatbuffers::Vector<const fb::BufferRef *> *buffers,
                           fb::Space space, const std::string &where);
  Result<void> checkSpans(const fb::KernelLaunch &kernel, const std::string &where) const;
  Result<void> checkMeeting(const std::string &where) const;
  Result<void> checkOverRanks(const flatbuffers::Vector<const fb::BufferRef *> *buffers,
                              const std::string &where, bool writes);
  Result<void> checkLoop(const fb::TileLoop &tiles, const std::string &where);
  Result<void> checkBranches(const fb::Program &program) const;
  Result<void> checkBranch(const fb::Program &program, unsigned step) const;
  Result<void> checkBuffer(const fb::BufferRef &buffer, const std::string &what) const;
  Result<uint64_t> bytesOfTensor(const flatbuffers::Vector<int64_t> *shape, fb::DType dtype,
                                 std::string_view name) const;
  uint64_t spaceBytes(fb::Space space) const;

  const fb::Executable &executable;
  KernelShapes kernels;
  std::string_view programName;       // that is being checked
  bool onCuda = false;                // compiled for a GPU
  uint64_t arenaBytes = 0;            // of the program that is being checked
  const fb::TileLoop *loop = nullptr; // that is being checked
  uint64_t buffersSeen = 0;
  int64_t tileSteps = 0;
};

} // namespace hybrid::rt::verifier
