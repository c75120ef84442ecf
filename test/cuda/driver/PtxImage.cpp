//===- PtxImage.cpp - kernels of a text of PTX ------------------------------===//
//
// What the machine finds is an error of the launch; with HYBRID_PTX_FINDINGS=FILE the launch goes
// on and the sentences are appended to that file. HYBRID_PTX_COUNTS=FILE gets a line of JSON a
// launch.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/driver/CodeImage.h"
#include "test/cuda/driver/Device.h"
#include "test/cuda/ptx/Machine.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hybrid::shim {
namespace {

/// One for all images: a launch may read what another image's has written.
ptx::Machine &machine() {
  static auto *one = new ptx::Machine([](uint64_t address) {
    auto [begin, bytes] = device().memory.allocationOf(address);
    return ptx::Extent{begin, bytes, 0};
  });
  return *one;
}

void append(const char *variable, const std::string &line) {
  const char *path = std::getenv(variable);
  if (!path)
    return;
  if (std::FILE *file = std::fopen(path, "a")) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
}

std::string toJson(const std::string &kernel, const KernelLaunch &launch,
                   const ptx::Counts &counts) {
  std::string text = "{\"kernel\": \"" + kernel + "\"";
  auto add = [&](const std::string &name, uint64_t value) {
    text += ", \"" + name + "\": " + std::to_string(value);
  };
  add("blocks", uint64_t(launch.blocks) * launch.rows),
      add("threads", static_cast<uint64_t>(launch.threads));
  add("shared_bytes", launch.sharedBytes);
  for (size_t i = 0; i < ptx::pipeCount; ++i)
    add(ptx::pipeNames[i], counts.instructions[i]);
  add("load_sectors", counts.loadSectors), add("store_sectors", counts.storeSectors);
  add("load_lines", counts.loadLines), add("store_lines", counts.storeLines);
  add("shared_requests", counts.sharedRequests), add("shared_wavefronts", counts.sharedWavefronts);
  add("products", counts.products), add("group_products", counts.groupProducts);
  add("barriers", counts.barriers);
  uint64_t read = 0, written = 0;
  for (const ptx::Counts::Traffic &traffic : counts.traffic)
    read += traffic.read, written += traffic.written;
  add("read_bytes", read), add("written_bytes", written);
  return text + "}\n";
}

class PtxKernel final : public Kernel {
public:
  PtxKernel(const ptx::Image &image, const ptx::Program &program) : image(image), program(program) {
    threads = program.requiredThreads ? program.requiredThreads : program.maximumThreads;
    parameters = program.parameterOffsets.size();
  }

  std::string run(const KernelLaunch &given) const override {
    ptx::Launch launch;
    launch.blocksX = given.blocks, launch.blocksY = given.rows;
    if (const char *some = std::getenv("HYBRID_PTX_BLOCKS"))
      launch.someX = static_cast<unsigned>(std::strtoul(some, nullptr, 10));
    launch.threads = given.threads, launch.sharedBytes = given.sharedBytes;
    launch.overlaps = given.overlaps;
    launch.arguments = given.values;
    for (const BufferExtent &extent : given.extents)
      launch.extents.push_back({extent.begin, extent.bytes, extent.rowStride});
    ptx::Counts counts;
    std::string problems;
    for (const ptx::Finding &finding : machine().run(image, program, launch, counts))
      problems += (problems.empty() ? "" : "; ") + describe(finding);
    append("HYBRID_PTX_COUNTS", toJson(program.name, given, counts));
    if (problems.empty())
      return {};
    problems = "kernel '" + program.name + "': " + problems;
    if (!std::getenv("HYBRID_PTX_FINDINGS"))
      return problems;
    append("HYBRID_PTX_FINDINGS", problems + "\n");
    return {};
  }

private:
  std::string describe(const ptx::Finding &finding) const {
    return std::string(ptx::nameOf(finding.kind)) + ": " + finding.message + " (line " +
           std::to_string(finding.line) + " of the PTX: " + image.line(finding.line) + ")";
  }

  const ptx::Image &image;
  const ptx::Program &program;
};

class PtxImage final : public CodeImage {
public:
  explicit PtxImage(std::unique_ptr<ptx::Image> image) : image(std::move(image)) {}
  std::unique_ptr<Kernel> find(const std::string &name, std::string &complaint) override {
    const ptx::Program *program = image->find(name, complaint);
    return program ? std::make_unique<PtxKernel>(*image, *program) : nullptr;
  }

private:
  std::unique_ptr<ptx::Image> image;
};

} // namespace

std::unique_ptr<CodeImage> loadPtx(const char *text, std::string &complaint) {
  complaint.clear();
  if (!text || !std::strstr(text, ".version"))
    return nullptr;
  auto image = ptx::Image::load(text, complaint);
  return image ? std::make_unique<PtxImage>(std::move(image)) : nullptr;
}

} // namespace hybrid::shim
