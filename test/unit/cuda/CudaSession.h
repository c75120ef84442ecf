//===- CudaSession.h - sessions on the tests' driver ---------------------------===//
#pragma once
#include "runtime/Session.h"
#include "runtime/files/File.h"
#include "test/unit/runtime/TestExecutable.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace hybrid::rt::test {

class CudaSession : public testing::Test {
protected:
  void SetUp() override {
    setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUBLASLT", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUDNN", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_CUFFT", HYBRID_SHIM_DRIVER, 1);
    setenv("HYBRID_NCCL", HYBRID_SHIM_DRIVER, 1);
    unsetenv("HYBRID_CUDA_SYNC");
  }

  static std::vector<uint8_t> image() {
    auto bytes = readFile(HYBRID_RUNTIME_IMAGE, 1 << 24);
    if (!bytes) {
      ADD_FAILURE() << bytes.error().message;
      return {};
    }
    const auto *data = reinterpret_cast<const uint8_t *>(bytes->data());
    return {data, data + bytes->size()};
  }
  static ExecutableSpec sound() { return onCuda(soundExecutable(), image()); }

  static std::unique_ptr<Session> sessionOf(const ExecutableSpec &spec,
                                            SessionOptions options = {}) {
    auto executable = loaded(spec);
    auto session = executable ? Session::create(executable, options)
                              : Result<std::unique_ptr<Session>>(Error{"no file"});
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return nullptr;
    }
    return std::move(*session);
  }
  static std::string refusalOf(const ExecutableSpec &spec) {
    auto executable = loaded(spec);
    if (!executable)
      return "";
    auto session = Session::create(executable, {});
    return session ? "accepted" : session.error().message;
  }
  static void fill(std::span<float> values, float first) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = first + static_cast<float>(i);
  }
};

#define EXPECT_RUNS(result)                                                                        \
  do {                                                                                             \
    auto outcome = (result);                                                                       \
    EXPECT_TRUE(outcome) << outcome.error().message;                                               \
  } while (false)
#define EXPECT_CONTAINS(text, part)                                                                \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

/// The sound executable with a program `train` whose gradient is its input x.
inline ExecutableSpec trainingExecutable(std::vector<uint8_t> image) {
  ExecutableSpec spec = soundExecutable();
  auto x = at(fb::Space::Arena, 0, 64), loss = at(fb::Space::Arena, 64, 4);
  ProgramSpec train{"train",
                    {{"x", {16}, fb::DType::F32, x}},
                    {{"loss", {}, fb::DType::F32, loss}},
                    {{"gradient", 20, {x, at(fb::Space::Gradients, 0, 80), loss}}},
                    256};
  spec.programs.insert(spec.programs.end() - 1, train); // programs lie in the order of names
  return onCuda(spec, std::move(image));
}

} // namespace hybrid::rt::test
