//===- MachineTest.h - a text of PTX, run in a test -------------------------===//
#pragma once
#include "test/cuda/ptx/Machine.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace hybrid::ptx::test {

/// A kernel `k` whose parameters p0, p1, ... are in %rd0, %rd1, ... as addresses of global memory.
/// The body has %p, %h, %r, %f, %rd (from 10 on) and %fd, and `extra` before it in the module.
inline std::string kernel(int parameters, const std::string &body, const std::string &extra = "") {
  std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n" + extra + ".visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += std::string(i ? ", " : "") + ".param .u64 p" + std::to_string(i);
  text += ")\n{\n.reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n"
          ".reg .b64 %rd<40>;\n.reg .f64 %fd<20>;\n";
  for (int i = 0; i < parameters; ++i) {
    const std::string n = std::to_string(i);
    text += "ld.param.u64 %rd" + n + ", [p" + n + "];\ncvta.to.global.u64 %rd" + n + ", %rd" + n +
            ";\n";
  }
  return text + body + "\nret;\n}\n";
}

/// Memory that begins as cuMemAlloc gives it.
template <typename T> struct DeviceAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{256};
  T *allocate(size_t count) {
    return static_cast<T *>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T *memory, size_t) { ::operator delete(memory, alignment); }
  bool operator==(const DeviceAllocator &) const { return true; }
};
template <typename T> using Buffer = std::vector<T, DeviceAllocator<T>>;

class MachineTest : public testing::Test {
protected:
  MachineTest()
      : machine([this](uint64_t address) {
          for (const Extent &extent : allocations)
            if (address >= extent.begin && address <= extent.begin + extent.bytes)
              return extent;
          return Extent();
        }) {}

  /// Device memory; what a kernel may reach through the next parameter.
  template <typename T> void pass(Buffer<T> &buffer) {
    const Extent extent{reinterpret_cast<uint64_t>(buffer.data()), buffer.size() * sizeof(T), 0};
    allocations.push_back(extent);
    launch.arguments.push_back(extent.begin);
    launch.extents.push_back(extent);
  }

  void run(const std::string &text, const std::string &name = "k") {
    std::string complaint;
    image = Image::load(text, complaint);
    ASSERT_TRUE(image) << complaint;
    const Program *program = image->find(name, complaint);
    ASSERT_TRUE(program) << complaint;
    counts = {};
    findings = machine.run(*image, *program, launch, counts);
  }

  bool found(Finding::Kind kind) const {
    return std::any_of(findings.begin(), findings.end(),
                       [&](auto &one) { return one.kind == kind; });
  }
  std::vector<Finding::Kind> kinds() const {
    std::vector<Finding::Kind> all;
    for (const Finding &finding : findings)
      all.push_back(finding.kind);
    return all;
  }
  std::string described() const {
    std::string all;
    for (const Finding &finding : findings)
      all += std::string(nameOf(finding.kind)) + ": " + finding.message + ": " +
             image->line(finding.line) + "\n";
    return all;
  }

  std::vector<Extent> allocations;
  Machine machine;
  Launch launch;
  std::unique_ptr<Image> image;
  Counts counts;
  std::vector<Finding> findings;
};

} // namespace hybrid::ptx::test
