//===- CountProgram.cpp - counts of the launches of an executable -----------===//
//
// Nothing is computed but who goes to which expert: a few blocks of each launch run over memory
// that is zero, or holds numbers in range where a program takes ids, so that what an address or a
// branch depends on is in range. A launch that comes again, with buffers elsewhere, is counted
// once.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/counts/CountProgram.h"
#include "executable/Spaces.h"
#include "test/cuda/counts/Counting.h"
#include "test/cuda/counts/Cubin.h"
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace hybrid::counts {
namespace {

using nlohmann::json;

constexpr int64_t idsWithoutBound = 2;

/// Fills a buffer with numbers below `below` that follow no order.
void fillWithIds(uint64_t address, uint64_t bytes, uint64_t below) {
  auto *to = reinterpret_cast<int32_t *>(address);
  uint64_t state = 1;
  for (uint64_t i = 0; i < bytes / sizeof(int32_t); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    to[i] = static_cast<int32_t>((state >> 33) % below);
  }
}

/// Whether blocks take so different numbers of instructions that more of them are to be counted.
bool differ(const json &blocks) {
  uint64_t least = UINT64_MAX, most = 0;
  for (const json &block : blocks) {
    uint64_t sum = 0;
    for (const char *pipe : ptx::pipeNames)
      sum += block[pipe].get<uint64_t>();
    least = std::min(least, sum), most = std::max(most, sum);
  }
  return most > least + least / 4;
}

class Counter {
public:
  Counter(const rt::Executable &executable, const ProgramOptions &options)
      : format(executable.format()), options(options), machine(countingMachine([this](uint64_t at) {
          for (const auto &space : spaces)
            if (space && at >= space->begin() && at <= space->begin() + space->size())
              return ptx::Extent{space->begin(), space->size(), 0};
          return ptx::Extent();
        })) {}

  rt::Result<json> run() {
    if (auto done = readImages(); !done)
      return done.error();
    for (size_t i = 0; i <= static_cast<size_t>(fb::Space::Tile); ++i)
      spaces.push_back(
          std::make_unique<Reserved>(spaceBytes(format, static_cast<fb::Space>(i)) + 256));
    if (format.constants())
      std::memcpy(
          reinterpret_cast<void *>(spaces[static_cast<size_t>(fb::Space::Constants)]->begin()),
          format.constants()->data(), format.constants()->size());
    json programs;
    for (const fb::Program *program : *format.programs()) {
      const std::string name = program->name()->str();
      if (!options.programs.empty() && std::find(options.programs.begin(), options.programs.end(),
                                                 name) == options.programs.end())
        continue;
      fillIds(*program);
      json steps = json::array();
      if (program->steps())
        for (unsigned i = 0; i < program->steps()->size(); ++i)
          if (auto done = add(*program->steps()->Get(i), i, nullptr, steps); !done)
            return done.error();
      programs[name] = std::move(steps);
    }
    return json{{"model", format.model() ? format.model()->str() : ""},
                {"replicas", format.replicas()},
                {"programs", std::move(programs)}};
  }

  rt::Result<std::string> profile(const std::string &kernel) {
    profiled = kernel;
    if (auto done = run(); !done)
      return done.error();
    if (profiles.empty())
      return rt::Error{fmt::format("no kernel of these programs is called '{}'", kernel)};
    return profiles;
  }

private:
  rt::Result<void> readImages() {
    const fb::CodeImage *ptx = nullptr;
    if (format.images())
      for (const fb::CodeImage *image : *format.images()) {
        const std::string architecture = image->architecture()->str();
        if (architecture.starts_with("compute_"))
          ptx = image;
        else
          resources[architecture] =
              resourcesOf(std::as_bytes(std::span(image->bytes()->data(), image->bytes()->size())));
      }
    if (!ptx)
      return rt::Error{"it has no PTX: compile it with --target=cuda:sm_80,sm_90a,compute_80"};
    std::string complaint,
        text(reinterpret_cast<const char *>(ptx->bytes()->data()), ptx->bytes()->size());
    text.resize(std::min(text.find('\0'), text.size())); // it may end with a zero
    code = ptx::Image::load(text, complaint);
    if (!code)
      return rt::Error{complaint};
    return {};
  }

  uint64_t addressOf(const fb::BufferRef &buffer) const {
    const auto space = static_cast<size_t>(buffer.space());
    return space < spaces.size() ? spaces[space]->begin() + buffer.offset() : 0;
  }

  /// Numbers below the bound of each input that has one, that follow no order.
  void fillIds(const fb::Program &program) {
    if (!program.inputs())
      return;
    for (const fb::Tensor *input : *program.inputs()) {
      if (input->dtype() != fb::DType::I32)
        continue;
      fillWithIds(
          addressOf(*input->buffer()), input->buffer()->bytes(),
          static_cast<uint64_t>(input->ids_below() > 0 ? input->ids_below() : idsWithoutBound));
    }
  }

  rt::Result<void> add(const fb::Step &step, unsigned number, const fb::TileLoop *loop,
                       json &into) {
    if (const auto *tiles = step.operation_as_TileLoop()) {
      if (tiles->steps())
        for (const fb::Step *inner : *tiles->steps())
          if (auto done = add(*inner, number, tiles, into); !done)
            return done;
      return {};
    }
    json made{{"op", step.op() ? step.op()->str() : ""},
              {"location", step.location() ? step.location()->str() : ""},
              {"step", number},
              {"branch", step.branch()},
              {"after", json::array()}};
    for (unsigned i = 0; step.after() && i < step.after()->size(); ++i)
      made["after"].push_back(step.after()->Get(i));
    for (const fb::BufferRef &buffer : buffersOf(step))
      made["buffers"].push_back({static_cast<int>(buffer.space()),
                                 static_cast<uint64_t>(buffer.offset()),
                                 static_cast<uint64_t>(buffer.bytes())});
    if (loop)
      made["times"] = (loop->rows() - 1) / loop->tile() + 1;
    if (const auto *product = step.operation_as_Matmul()) {
      made["kind"] = "product";
      made["m"] = product->m(), made["n"] = product->n(), made["k"] = product->k();
      if (loop)
        made[product->tile_rows() ? "m" : "k"] = loop->tile();
      made["batch"] = product->batch(), made["dtype"] = fb::EnumNameDType(product->dtype());
      made["accumulate"] = product->accumulate();
      made["rounds_result"] = product->rounds_result();
    } else if (const auto *attention = step.operation_as_Attention()) {
      made["kind"] = "attention";
      made["batch"] = attention->batch(), made["length"] = attention->length();
      made["key_length"] = attention->key_length(), made["heads"] = attention->heads();
      made["head_size"] = attention->head_size(), made["causal"] = attention->causal();
      made["backward"] = attention->backward();
    } else if (const auto *transform = step.operation_as_Transform()) {
      made["kind"] = "transform";
      made["points"] = transform->points(), made["signals"] = transform->signals();
      made["dtype"] = fb::EnumNameDType(transform->dtype());
    } else if (const auto *launch = step.operation_as_KernelLaunch()) {
      made["kind"] = "kernel";
      if (auto done = addLaunch(*launch, loop, made); !done)
        return done;
    }
    into.push_back(std::move(made));
    return {};
  }

  rt::Result<void> addLaunch(const fb::KernelLaunch &launch, const fb::TileLoop *loop, json &made) {
    const std::string symbol = launch.symbol()->str();
    const int64_t grid = loop ? std::min(launch.items_per_tile(), launch.grid()) : launch.grid();
    made["kernel"] = symbol, made["grid"] = grid, made["threads"] = launch.threads();
    made["shared_bytes"] = launch.scratch_bytes();
    for (auto &[architecture, kernels] : resources) {
      auto &of = kernels[symbol];
      made["registers"][architecture] = of.registers;
      made["machine_instructions"][architecture] = of.codeBytes / 16;
    }
    std::string complaint;
    const ptx::Program *program = code->find(symbol, complaint);
    if (!program)
      return rt::Error{fmt::format("kernel '{}': {}", symbol, complaint)};
    made["ptx_instructions"] = program->instructions.size();
    made["static_shared_bytes"] = program->staticSharedBytes;
    json &counted = known[symbol + " " + std::to_string(grid)];
    const bool routes = made["op"] == "route"; // makes what its readers address by
    if (symbol.find("routeCount") != std::string::npos)
      chooseExperts(launch);
    const auto before = routes ? contentsOf(launch) : std::vector<std::vector<std::byte>>();
    if (counted.is_null())
      counted = count(*program, launch, grid);
    if (routes) {
      for (unsigned i = 0; i < before.size(); ++i)
        std::ranges::copy(before[i],
                          reinterpret_cast<std::byte *>(addressOf(*launch.buffers()->Get(i))));
      runWhole(*program, launch, grid);
    }
    made.update(counted);
    return {};
  }

  /// The choices that are counted (Route.h): as tokens of a trained model, they follow no order.
  void chooseExperts(const fb::KernelLaunch &launch) {
    const fb::BufferRef *choices = launch.buffers()->Get(0), *counts = launch.buffers()->Get(1);
    const uint64_t experts =
        counts->bytes() / sizeof(int32_t) / static_cast<uint64_t>(launch.grid());
    if (experts > 0)
      fillWithIds(addressOf(*choices), choices->bytes(), experts);
  }

  std::vector<std::vector<std::byte>> contentsOf(const fb::KernelLaunch &launch) const {
    std::vector<std::vector<std::byte>> contents;
    for (const fb::BufferRef *buffer : *launch.buffers()) {
      const auto *from = reinterpret_cast<const std::byte *>(addressOf(*buffer));
      contents.emplace_back(from, from + buffer->bytes());
    }
    return contents;
  }

  void runWhole(const ptx::Program &program, const fb::KernelLaunch &launch, int64_t grid) {
    ptx::Launch given = launchOf(launch);
    given.blocksX = static_cast<unsigned>(grid);
    ptx::Counts counts;
    const ptx::Options before = machine.options;
    machine.options.footprints = machine.options.timeline = machine.options.reuse = false;
    machine.run(*code, program, given, counts);
    machine.options = before;
  }

  /// Of one block.
  ptx::Launch launchOf(const fb::KernelLaunch &launch) const {
    ptx::Launch given;
    given.threads = launch.threads();
    given.sharedBytes = static_cast<unsigned>(launch.scratch_bytes());
    if (launch.buffers())
      for (const fb::BufferRef *buffer : *launch.buffers()) {
        given.arguments.push_back(addressOf(*buffer));
        given.extents.push_back({addressOf(*buffer), buffer->bytes(), 0});
      }
    given.arguments.push_back(0); // the first block
    return given;
  }

  /// What blocks next to each other touch together: those of a row of an image share rows.
  json neighbours(const ptx::Program &program, ptx::Launch launch, uint64_t grid) {
    constexpr uint64_t most = 8;
    launch.blocksX = static_cast<unsigned>(std::min(grid, most));
    launch.arguments.back() = (grid - launch.blocksX) / 2;
    ptx::Counts counts;
    const ptx::Options before = machine.options;
    machine.options.together = true, machine.options.timeline = machine.options.reuse = false;
    machine.run(*code, program, launch, counts);
    machine.options = before;
    json made = toJson(counts);
    return {{"blocks", launch.blocksX}, {"touched", made["touched"]}, {"kept", made["kept"]}};
  }

  void addProfile(const ptx::Program &program, ptx::Launch launch, uint64_t grid) {
    ptx::Counts counts;
    machine.options.profile = true;
    for (uint64_t block : sampled(grid, options.blocks)) {
      launch.arguments.back() = block;
      machine.run(*code, program, launch, counts);
    }
    machine.options.profile = false;
    profiles += program.name + "\n";
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const ptx::Instruction &in = program.instructions[i];
      profiles += fmt::format("{:10} {:8} {:8} {}\n", counts.executed[i],
                              ptx::pipeNames[static_cast<size_t>(in.pipe)], counts.wavefronts[i],
                              code->line(in.line));
    }
  }

  json count(const ptx::Program &program, const fb::KernelLaunch &launch, int64_t grid) {
    json made;
    ptx::Launch given = launchOf(launch);
    made["neighbours"] = neighbours(program, given, static_cast<uint64_t>(grid));
    auto countSome = [&](uint64_t most) {
      json all = json::array();
      for (uint64_t block : sampled(static_cast<uint64_t>(grid), most)) {
        given.arguments.back() = block;
        ptx::Counts counts;
        const auto findings = machine.run(*code, program, given, counts);
        json one = toJson(counts);
        one["block"] = block;
        for (const ptx::Finding &finding : findings)
          one["findings"].push_back(fmt::format("{}: {} (line {})", ptx::nameOf(finding.kind),
                                                finding.message, finding.line));
        all.push_back(std::move(one));
      }
      return all;
    };
    if (!profiled.empty() && program.name.find(profiled) != std::string::npos)
      addProfile(program, given, static_cast<uint64_t>(grid));
    json all = countSome(options.blocks);
    if (differ(all))
      all = countSome(4 * options.blocks);
    made["blocks"] = std::move(all);
    return made;
  }

  const fb::Executable &format;
  const ProgramOptions &options;
  std::vector<std::unique_ptr<Reserved>> spaces;
  ptx::Machine machine;
  std::unique_ptr<ptx::Image> code;
  std::map<std::string, std::map<std::string, Resources>> resources; ///< by architecture
  std::map<std::string, json> known;
  std::string profiled, profiles; ///< which kernels, and their text
};

} // namespace

rt::Result<json> countPrograms(const rt::Executable &executable, const ProgramOptions &options) {
  return Counter(executable, options).run();
}

rt::Result<std::string> profileKernels(const rt::Executable &executable,
                                       const ProgramOptions &options, const std::string &kernel) {
  return Counter(executable, options).profile(kernel);
}

} // namespace hybrid::counts
