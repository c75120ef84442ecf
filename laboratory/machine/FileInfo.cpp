//===- FileInfo.cpp - what a file holds -------------------------------------------===//
#include "laboratory/machine/FileInfo.h"
#include "executable/CudaVersion.h"
#include "executable/Printable.h"
#include "executable/SessionMemory.h"
#include "laboratory/machine/RankTraffic.h"
#include "runtime/Executable.h"
#include "runtime/InputIds.h"
#include "runtime/cpu/Threads.h"
#include "runtime/files/Json.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Print.h"
#include "runtime/files/Safetensors.h"
#include "training/ModelFingerprint.h"
#include "training/TensorHashes.h"
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace hybrid::rt::lab {
namespace {

using Json = nlohmann::ordered_json;

Json describe(const TensorInfo &tensor) {
  return {{"name", tensor.name}, {"dtype", nameOf(tensor.dtype)}, {"shape", tensor.shape}};
}

std::string_view textOf(const flatbuffers::String *text) {
  return text ? text->string_view() : std::string_view();
}

Json describe(const SessionMemory &memory, const SessionMemory &evaluation) {
  Json parts{{"scratch_bytes_per_thread", memory.scratchPerThread},
             {"threads", memory.threads},
             {"burst_steps", memory.steps},
             {"evaluation_bytes", evaluation.total()},
             {"total_bytes", memory.total()}};
  memory.visitParts([&](const char *name, uint64_t bytes) { parts[name] = bytes; });
  return parts;
}

Json describe(const Executable &executable, bool withSteps, int threads) {
  const fb::Executable &format = executable.format();
  Json settings = Json::object();
  if (format.settings())
    for (const fb::Setting *setting : *format.settings())
      settings[setting->name()->str()] = textOf(setting->value());
  Json features = Json::array();
  if (format.target()->features())
    for (const auto *feature : *format.target()->features())
      features.push_back(feature->str());
  Json images = Json::array();
  if (format.images())
    for (const fb::CodeImage *image : *format.images())
      images.push_back(
          {{"architecture", image->architecture()->str()},
           {"bytes", image->bytes()->size()},
           {"toolkit", image->toolkit() ? Json(cudaVersionText(image->toolkit())) : Json()},
           {"driver", image->driver() ? Json(driverText(image->driver())) : Json()}});
  const auto cores = static_cast<uint64_t>(threads);
  const SessionMemory memory = memoryOf(format, SessionUse::toTrain(format, cores)),
                      evaluation = memoryOf(format, SessionUse::toEvaluate(format, cores));
  Json libraries = Json::array();
  if (memory.products)
    libraries.push_back("cuBLASLt");
  if (memory.attention)
    libraries.push_back("cuDNN");
  if (memory.transforms)
    libraries.push_back("cuFFT");
  if (reducesOverRanks(executable) && format.images() && format.images()->size() > 0)
    libraries.push_back("NCCL");
  int64_t elements = 0, trained = 0;
  Json parameters = Json::array();
  for (const ParameterInfo &parameter : executable.parameters()) {
    Json entry = describe(parameter);
    entry["trainable"] = parameter.trainable;
    entry["decay"] = parameter.decay;
    entry["lr_scale"] = parameter.lrScale;
    parameters.push_back(std::move(entry));
    elements += parameter.elements();
    trained += parameter.trainable ? parameter.elements() : 0;
  }
  Json programs = Json::array();
  for (const fb::Program *program : *format.programs()) {
    const ProgramInfo *info = executable.findProgram(program->name()->string_view());
    Json entry{{"name", info->name},
               {"steps", program->steps() ? program->steps()->size() : 0},
               {"arena_bytes", program->arena_bytes()}};
    for (auto [key, ports] :
         {std::pair("inputs", &info->inputs), std::pair("outputs", &info->outputs)}) {
      entry[key] = Json::array();
      for (const TensorInfo &tensor : *ports) {
        entry[key].push_back(describe(tensor));
        if (auto ids =
                ports == &info->inputs ? idsOf(executable, info->name, tensor.name) : std::nullopt)
          entry[key].back()["ids"] = ids->text();
      }
    }
    if (withSteps && program->steps()) {
      entry["step_list"] = Json::array();
      for (const fb::Step *step : *program->steps()) {
        Json line{{"op", textOf(step->op())}, {"location", textOf(step->location())}};
        if (const auto *launch = step->operation_as_KernelLaunch())
          line.update({{"kernel", launch->symbol()->str()}, {"grid", launch->grid()}});
        else if (const auto *product = step->operation_as_Matmul())
          line.update({{"matmul", {product->m(), product->n(), product->k()}}});
        else if (const auto *reduction = step->operation_as_AllReduce()) {
          uint64_t bytes = 0;
          for (const fb::BufferRef *buffer : *reduction->buffers())
            bytes += buffer->bytes();
          line.update(
              {{reduction->to_owners() ? "reduce_scatter_bytes" : "all_reduce_bytes", bytes},
               {"sent_as", nameOf(static_cast<DType>(reduction->wire()))}});
        } else if (const auto *gather = step->operation_as_AllGather()) {
          uint64_t bytes = 0;
          for (const fb::BufferRef *buffer : *gather->buffers())
            bytes += buffer->bytes();
          line.update({{"all_gather_bytes", bytes}});
        } else if (const auto *exchange = step->operation_as_Exchange())
          line.update(
              {{"exchange", fb::EnumNameRankPattern(exchange->pattern())},
               {"ranks", exchange->ranks()},
               {"bytes", (exchange->send() ? exchange->send() : exchange->receive())->bytes()}});
        else if (const auto *transform = step->operation_as_Transform())
          line.update({{transform->inverse() ? "inverse_transform" : "transform",
                        {transform->points(), transform->signals()}}});
        else if (const auto *attention = step->operation_as_Attention())
          line.update({{attention->backward() ? "attention_gradient" : "attention",
                        {attention->batch(), attention->length(), attention->key_length(),
                         attention->heads(), attention->head_size()}}});
        entry["step_list"].push_back(std::move(line));
      }
    }
    programs.push_back(std::move(entry));
  }
  Json cost = parseJsonOrNull(textOf(format.cost()));
  return {{"file", executable.name()},
          {"kind", "executable"},
          {"model", textOf(format.model())},
          {"compiler", textOf(format.compiler())},
          {"format", fmt::format("{}.{}", format.version_major(), format.version_minor())},
          {"target",
           {{"device", textOf(format.target()->device())},
            {"cpu", textOf(format.target()->cpu())},
            {"features", features}}},
          {"settings", settings},
          {"replicas", executable.replicas()},
          {"fingerprint", fmt::format("{:016x}", executable.fingerprint())},
          {"trusted", bool(executable.checkTrusted())},
          {"code_bytes", format.code() ? format.code()->size() : 0},
          {"images", images},
          {"libraries", libraries},
          {"constants_bytes", format.constants_bytes()},
          {"arena_bytes", format.arena_bytes()},
          {"parameter_bytes", format.parameter_bytes()},
          {"parameter_count", elements},
          {"trained_count", trained},
          {"parameters", parameters},
          {"programs", programs},
          {"memory", describe(memory, evaluation)},
          {"cost", cost}};
}

std::string plain(const Json &text) { return printable(text.get<std::string>()); }

std::string shapeText(const Json &shape) { return shape.dump(); }

std::string libraryCall(const Json &step) {
  for (const char *call :
       {"matmul", "attention", "attention_gradient", "transform", "inverse_transform"})
    if (step.contains(call))
      return fmt::format("{} {}", call, step[call].dump());
  return "";
}

void printExecutable(const Json &info) {
  say("model       {}\ncompiler    {}\ntarget      {} {}", plain(info["model"]),
      plain(info["compiler"]), plain(info["target"]["device"]), plain(info["target"]["cpu"]));
  if (!info["target"]["features"].empty())
    say(" ({})", fmt::join(info["target"]["features"].get<std::vector<std::string>>(), ", "));
  say("\nsettings   ");
  for (const auto &[name, value] : info["settings"].items())
    say(" {}={}", printable(name), plain(value));
  for (const Json &image : info["images"])
    say(" {} ({} bytes{})", plain(image["architecture"]), image["bytes"].dump(),
        image["driver"].is_null() ? "" : ", driver of " + plain(image["driver"]));
  if (!info["trusted"].get<bool>())
    say("\ntrust       none: this user's hybridc did not make it; its code runs after --trust");
  if (!info["libraries"].empty())
    say("\nneeds       {}", fmt::join(info["libraries"].get<std::vector<std::string>>(), ", "));
  say("\nsize        {} bytes of code, {} of constants, {} of arena\n\nparameters  {} ({} "
      "trained)\n",
      info["code_bytes"].dump(), info["constants_bytes"].dump(), info["arena_bytes"].dump(),
      info["parameter_count"].dump(), info["trained_count"].dump());
  for (const Json &parameter : info["parameters"])
    say("  {:<48} {} {}{}{}\n", plain(parameter["name"]), plain(parameter["dtype"]),
        shapeText(parameter["shape"]), parameter["trainable"].get<bool>() ? "" : "  frozen",
        parameter["decay"].get<bool>() ? "" : "  no decay");
  const Json &memory = info["memory"];
  if (info["replicas"] != 1)
    say("\nreplicas    {}, each with parameters, inputs and outputs as told here\n",
        info["replicas"].dump());
  const bool onGpu = info["target"]["device"] == "cuda";
  std::string parts;
  for (auto [name, key] : {std::pair("parameters", "parameter_bytes"),
                           {"gradients", "gradient_bytes"},
                           {"moments", "moment_bytes"},
                           {"constants", "constant_bytes"},
                           {"arena", "arena_bytes"},
                           {"ports", "port_bytes"},
                           {"tiles", "tile_bytes"},
                           {"scratch", "scratch_bytes"},
                           {"matrix library", "library_bytes"},
                           {"attention library", "attention_bytes"},
                           {"transform library", "transform_bytes"},
                           {"tables", "table_bytes"}})
    if (memory[key] != 0)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, memory[key].dump());
  const std::string how = onGpu ? fmt::format("bursts of {} steps", memory["burst_steps"].dump())
                                : fmt::format("{} threads", memory["threads"].dump());
  say("\nmemory      {} bytes{} to train with {}: {}\n            {} bytes to evaluate\n",
      memory["total_bytes"].dump(), onGpu ? " of the GPU" : "", how, parts,
      memory["evaluation_bytes"].dump());
  say("\nprograms\n");
  for (const Json &program : info["programs"]) {
    say("  {:<8} {} steps, arena {} bytes\n", plain(program["name"]), program["steps"].dump(),
        program["arena_bytes"].dump());
    for (const char *key : {"inputs", "outputs"})
      for (const Json &tensor : program[key])
        say("    {:<7} {:<28} {} {}{}\n", key == std::string_view("inputs") ? "input" : "output",
            plain(tensor["name"]), plain(tensor["dtype"]), shapeText(tensor["shape"]),
            tensor.contains("ids") ? "  ids " + plain(tensor["ids"]) : "");
    if (program.contains("step_list"))
      for (const Json &step : program["step_list"])
        say("      {:<36} {:<40} {}\n", plain(step["op"]),
            step.contains("kernel")
                ? fmt::format("{} x {}", plain(step["kernel"]), step["grid"].dump())
                : libraryCall(step),
            plain(step["location"]));
  }
}

Result<Json> describeSafetensors(const std::string &path) {
  auto file = SafetensorsFile::open(path);
  if (!file)
    return file.error();
  if (auto sound = checkHashes(*file, path); !sound)
    return sound.error();
  const char *types[] = {"F32", "F64", "I32", "I64"};
  Json tensors = Json::array();
  for (const auto &[name, tensor] : file->tensors())
    tensors.push_back(
        {{"name", name}, {"dtype", types[static_cast<int>(tensor.type)]}, {"shape", tensor.shape}});
  return Json{{"file", path},
              {"kind", "safetensors"},
              {"metadata", file->metadata()},
              {"tensors", tensors}};
}

Result<Json> describeNpy(const std::string &path) {
  auto array = readNpy(path);
  if (!array)
    return array.error();
  const char *types[] = {"f32", "f64", "i32", "i64", "u8"};
  return Json{{"file", path},
              {"kind", "npy"},
              {"dtype", types[static_cast<int>(array->element)]},
              {"shape", array->shape}};
}

/// A checkpoint or an array.
Result<void> printTensors(const InfoOptions &options, bool isArray) {
  auto described = isArray ? describeNpy(options.file) : describeSafetensors(options.file);
  if (!described)
    return described.error();
  const Json &info = *described;
  if (options.json) {
    say("{}\n", jsonText(info));
  } else if (isArray) {
    say("{} {}\n", plain(info["dtype"]), shapeText(info["shape"]));
  } else {
    for (const auto &[key, value] : info["metadata"].items())
      say("{:<20} {}\n", printable(key), plain(value));
    for (const Json &tensor : info["tensors"])
      say("  {:<56} {} {}\n", plain(tensor["name"]), plain(tensor["dtype"]),
          shapeText(tensor["shape"]));
  }
  return {};
}

/// What a training step sends, for each number of ranks that was asked for.
Result<void> addTraffic(Json &info, const Executable &executable, const InfoOptions &options) {
  for (int64_t ranks : options.ranks) {
    auto traffic = trafficOf(executable, ranks);
    if (!traffic)
      return traffic.error();
    Json entry{{"ranks", ranks},
               {"sent_bytes", traffic->total()},
               {"least_sent_bytes", traffic->least},
               {"reduced_bytes", traffic->reduced},
               {"gathered_bytes", traffic->gathered},
               {"swapped_bytes", traffic->swapped},
               {"state_bytes", traffic->states},
               {"exchanges", traffic->exchanges}};
    if (options.link.bytesPerSecond > 0)
      entry["seconds"] = traffic->seconds(options.link);
    const RankMemory memory = memoryOf(executable, ranks);
    entry["kept_bytes"] = {{"parameters", memory.parameters},
                           {"gradients", memory.gradients},
                           {"moments", memory.moments}};
    info["ranks"].push_back(std::move(entry));
  }
  return {};
}

void printTraffic(const Json &rows) {
  say("\na training step sends, a rank:\n{:>8} {:>12} {:>12} {:>12} {:>12} {:>12} {:>10}{}\n",
      "ranks", "bytes", "gradients", "parameters", "swapped", "states", "exchanges",
      rows.front().contains("seconds") ? "       time" : "");
  for (const Json &row : rows) {
    say("{:>8}", row["ranks"].get<int64_t>());
    for (const char *key :
         {"sent_bytes", "reduced_bytes", "gathered_bytes", "swapped_bytes", "state_bytes"})
      say(" {:>12}", row[key].get<uint64_t>());
    say(" {:>10}", row["exchanges"].get<uint64_t>());
    if (row.contains("seconds"))
      say(" {:>8.3f} ms", row["seconds"].get<double>() * 1e3);
    say("\n");
  }
  say("\nand keeps of the parameters:\n{:>8} {:>12} {:>12} {:>12}\n", "ranks", "values",
      "gradients", "moments");
  for (const Json &row : rows) {
    say("{:>8}", row["ranks"].get<int64_t>());
    for (const char *key : {"parameters", "gradients", "moments"})
      say(" {:>12}", row["kept_bytes"][key].get<uint64_t>());
    say("\n");
  }
}

} // namespace

Result<void> printInfo(const InfoOptions &options) {
  const std::string extension = std::filesystem::path(options.file).extension();
  if (extension == ".safetensors" || extension == ".npy")
    return printTensors(options, extension == ".npy");
  auto executable = Executable::load(options.file);
  if (!executable)
    return executable.error();
  if (options.source) {
    say("{}", textOf((*executable)->format().source()));
    return {};
  }
  Json info = describe(**executable, options.steps,
                       options.threads > 0 ? options.threads : availableThreads());
  if (auto done = addTraffic(info, **executable, options); !done)
    return done;
  if (options.json) {
    say("{}\n", jsonText(info));
    return {};
  }
  printExecutable(info);
  if (info.contains("ranks"))
    printTraffic(info["ranks"]);
  return {};
}

} // namespace hybrid::rt::lab
