//===- Main.cpp - hybrid-ptx-count ------------------------------------------===//
#include "test/cuda/counts/CountProgram.h"
#include "test/cuda/counts/Counting.h"
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

using namespace hybrid;

static constexpr const char *usage =
    "usage: hybrid-ptx-count MODEL.hyx [--program NAME]... [--blocks N] [--profile KERNEL]\n"
    "       hybrid-ptx-count TEXT.ptx KERNEL --grid N --threads N [--shared BYTES] [--blocks N]\n"
    "                        [--buffer BYTES]...\n"
    "Counts what some blocks of each launch take of a GPU's multiprocessor, as JSON; or says how\n"
    "often they execute each line of the PTX of kernels whose names contain KERNEL.\n";

/// A kernel of a text: its parameters are buffers that are zero.
static rt::Result<nlohmann::json> countKernel(const std::string &path, const std::string &name,
                                              ptx::Launch launch,
                                              const std::vector<uint64_t> &buffers,
                                              uint64_t blocks) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string complaint;
  auto image = ptx::Image::load(text, complaint);
  const ptx::Program *program = image ? image->find(name, complaint) : nullptr;
  if (!program)
    return rt::Error{complaint.empty() ? "it has no kernel '" + name + "'" : complaint};
  std::vector<std::unique_ptr<counts::Reserved>> spaces;
  for (uint64_t bytes : buffers) {
    spaces.push_back(std::make_unique<counts::Reserved>(bytes));
    launch.arguments.push_back(spaces.back()->begin());
    launch.extents.push_back({spaces.back()->begin(), bytes, 0});
  }
  auto machine = counts::countingMachine([](uint64_t) { return ptx::Extent(); });
  nlohmann::json all = nlohmann::json::array();
  if (program->parameterOffsets.size() != buffers.size())
    return rt::Error{fmt::format("kernel '{}' has {} parameters, {} buffers are given", name,
                                 program->parameterOffsets.size(), buffers.size())};
  launch.someX = static_cast<unsigned>(blocks); // those at both ends
  ptx::Counts total;
  for (const ptx::Finding &finding : machine.run(*image, *program, launch, total))
    return rt::Error{
        fmt::format("{}: {} (line {})", ptx::nameOf(finding.kind), finding.message, finding.line)};
  nlohmann::json made{{"kind", "kernel"},
                      {"kernel", name},
                      {"grid", launch.blocksX},
                      {"threads", launch.threads},
                      {"shared_bytes", launch.sharedBytes},
                      {"static_shared_bytes", program->staticSharedBytes},
                      {"ptx_instructions", program->instructions.size()},
                      {"counted_blocks", std::min<uint64_t>(blocks, launch.blocksX)},
                      {"blocks", {counts::toJson(total)}}};
  for (uint64_t i = 0, offset = 0; i < buffers.size(); offset += buffers[i++])
    made["buffers"].push_back({0, offset, buffers[i]});
  return made;
}

int main(int count, char **arguments) {
  std::vector<std::string> plain;
  counts::ProgramOptions options;
  ptx::Launch launch;
  std::vector<uint64_t> buffers;
  std::string profiled;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (!word.starts_with("--")) {
      plain.emplace_back(word);
      continue;
    }
    if (++i == count) {
      std::fputs(usage, stderr);
      return 2;
    }
    char *end = nullptr;
    const uint64_t number = std::strtoull(arguments[i], &end, 10);
    const bool isNumber = *arguments[i] && !*end;
    if (word == "--profile")
      profiled = arguments[i];
    else if (word == "--program")
      options.programs.emplace_back(arguments[i]);
    else if (word == "--blocks" && isNumber && number)
      options.blocks = number;
    else if (word == "--grid" && isNumber)
      launch.blocksX = static_cast<unsigned>(number);
    else if (word == "--threads" && isNumber && number && number <= 1024)
      launch.threads = static_cast<int>(number);
    else if (word == "--shared" && isNumber && number <= 232448)
      launch.sharedBytes = static_cast<unsigned>(number);
    else if (word == "--buffer" && isNumber)
      buffers.push_back(number);
    else {
      fmt::print(stderr, "hybrid-ptx-count: {} {} is not understood\n{}", word, arguments[i],
                 usage);
      return 2;
    }
  }
  if (plain.empty() || plain.size() > 2) {
    std::fputs(usage, stderr);
    return 2;
  }
  rt::Result<nlohmann::json> made = rt::Error{};
  if (plain.size() == 2) {
    made = countKernel(plain[0], plain[1], launch, buffers, options.blocks);
  } else {
    auto executable = rt::Executable::load(plain[0], rt::Trust::Given);
    if (!executable) {
      fmt::print(stderr, "hybrid-ptx-count: {}\n", executable.error().message);
      return 1;
    }
    if (!profiled.empty()) {
      const auto text = counts::profileKernels(**executable, options, profiled);
      if (text)
        std::fputs(text->c_str(), stdout);
      else
        fmt::print(stderr, "hybrid-ptx-count: {}: {}\n", plain[0], text.error().message);
      return text ? 0 : 1;
    }
    made = counts::countPrograms(**executable, options);
  }
  if (!made) {
    fmt::print(stderr, "hybrid-ptx-count: {}: {}\n", plain[0], made.error().message);
    return 1;
  }
  fmt::print("{}\n", made->dump());
  return 0;
}
