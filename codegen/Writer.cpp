//===- Writer.cpp - a scheduled module and its code to a .hyx ---------------===//
#include "codegen/Writer.h"
#include "dialect/Shapes.h"
#include "dialect/schedule/Branches.h"
#include "dialect/schedule/LocationText.h"
#include "dialect/schedule/Memory.h"
#include "dialect/schedule/RankOps.h"
#include "dialect/schedule/TransformOps.h"
#include "executable/CudaVersion.h"
#include "executable/Executable_generated.h"
#include "executable/Limits.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"
#include <map>
#include <xxhash.h>

using namespace mlir;

namespace hybrid {
namespace {

fb::DType dtypeOf(Type type) {
  if (type.isF64())
    return fb::DType::F64;
  if (type.isBF16())
    return fb::DType::BF16;
  return type.isInteger(32) ? fb::DType::I32 : fb::DType::F32;
}

fb::BufferRef bufferRef(Attribute attribute) {
  auto buffer = cast<BufferAttr>(attribute);
  return fb::BufferRef(buffer.getOffset(), buffer.getBytes(),
                       static_cast<fb::Space>(buffer.getSpace()));
}

class ExecutableWriter {
public:
  ExecutableWriter(const Code &code, const Provenance &provenance) : code(code) {
    for (const SourceText &source : provenance.sources)
      names[source.path] = source.name;
  }

  /// "std/ssm.hyb:12:17". The folders are left out: equal models make equal executables wherever
  /// they lie.
  flatbuffers::Offset<flatbuffers::String> location(Operation &op) {
    const std::string text = locationText(op.getLoc());
    auto [beforeColumn, column] = StringRef(text).rsplit(':');
    auto [path, line] = beforeColumn.rsplit(':');
    auto found = names.find(path);
    const StringRef name =
        found != names.end() ? StringRef(found->second) : llvm::sys::path::filename(path);
    return builder.CreateString(text.empty() ? "" : (name + ":" + line + ":" + column).str());
  }

  flatbuffers::Offset<fb::Tensor> tensor(Attribute attribute) {
    auto port = cast<DictionaryAttr>(attribute);
    auto type = cast<RankedTensorType>(cast<TypeAttr>(port.get("type")).getValue());
    auto name = builder.CreateString(cast<StringAttr>(port.get("name")).str());
    auto shape = builder.CreateVector(type.getShape().data(), type.getShape().size());
    fb::BufferRef buffer = bufferRef(port.get("buffer"));
    auto ids = port.getAs<IdsAttr>("ids");
    return fb::CreateTensor(builder, name, shape, dtypeOf(type.getElementType()), &buffer,
                            isa<FloatType>(type.getElementType()), ids ? ids.getBelow() : 0,
                            ids ? static_cast<int32_t>(ids.getAlso()) : 0);
  }

  /// Notes how a kernel is launched: its code was made for this launch, or for one that is alike.
  void noteKernel(const std::string &symbol, LaunchOp launch) {
    auto loop = dyn_cast<TileLoopOp>(launch->getParentOp());
    KernelShape shape{symbol,
                      static_cast<int64_t>(launch.getGrid()),
                      static_cast<int64_t>(launch.getItemsPerTile()),
                      loop ? static_cast<int64_t>(loop.getTile()) : 0,
                      launch.getScratchBytes(),
                      static_cast<int32_t>(launch.getThreads()),
                      {}};
    std::vector<fb::BufferRef> buffers;
    for (auto [i, attribute] : llvm::enumerate(launch.getBuffers())) {
      fb::BufferRef buffer = bufferRef(attribute);
      buffers.push_back(buffer);
      shape.buffers.push_back({launch.getRowBytes().empty() ? 0 : launch.getRowBytes()[i],
                               llvm::is_contained(launch.getWrites(), static_cast<int64_t>(i)),
                               buffer.bytes() && buffer.space() == fb::Space::Tile,
                               buffer.bytes() != 0});
    }
    auto &least = kernels[shape];
    least.resize(buffers.size(), {UINT64_MAX, mostAlignment});
    for (auto [known, buffer] : llvm::zip(least, buffers)) {
      known.first = std::min(known.first, buffer.bytes());
      known.second = std::min(known.second, llvm::MinAlign(mostAlignment, buffer.offset()));
    }
  }

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Kernel>>> kernelTable() {
    std::vector<flatbuffers::Offset<fb::Kernel>> entries;
    for (const auto &[shape, least] : kernels) {
      std::vector<fb::KernelBuffer> buffers;
      for (auto [buffer, known] : llvm::zip(shape.buffers, least))
        buffers.emplace_back(known.first, buffer.rowBytes, static_cast<uint32_t>(known.second),
                             buffer.written, buffer.inTile);
      entries.push_back(fb::CreateKernel(builder, builder.CreateString(shape.symbol), shape.grid,
                                         shape.itemsPerTile, shape.tile, shape.scratchBytes,
                                         shape.threads, builder.CreateVectorOfStructs(buffers)));
    }
    return builder.CreateVector(entries);
  }

  flatbuffers::Offset<fb::Step> step(Operation &op) {
    auto location = this->location(op);
    auto branch = op.getAttrOfType<IntegerAttr>(branchAttribute);
    auto after = op.getAttrOfType<DenseI64ArrayAttr>(afterAttribute);
    const std::vector<uint32_t> earlier(after ? after.asArrayRef().begin() : nullptr,
                                        after ? after.asArrayRef().end() : nullptr);
    auto made = [&](fb::Operation kind, flatbuffers::Offset<void> operation, StringRef source) {
      auto name = builder.CreateString(source.str());
      auto afterVector = earlier.empty() ? 0 : builder.CreateVector(earlier);
      return fb::CreateStep(builder, kind, operation, name, location,
                            branch ? static_cast<uint8_t>(branch.getInt()) : 0, afterVector);
    };
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      std::vector<fb::BufferRef> buffers;
      for (Attribute buffer : launch.getBuffers())
        buffers.push_back(bufferRef(buffer));
      const std::string name = code.symbols.lookup(launchKey(launch));
      noteKernel(name, launch);
      auto symbol = builder.CreateString(name);
      auto bufferVector = builder.CreateVectorOfStructs(buffers);
      flatbuffers::Offset<flatbuffers::Vector<int64_t>> rowBytes;
      if (!launch.getRowBytes().empty())
        rowBytes = builder.CreateVector(launch.getRowBytes().data(), launch.getRowBytes().size());
      std::vector<fb::ItemSpan> spans;
      for (ArrayRef<int64_t> rest = launch.getItemSpans(); !rest.empty(); rest = rest.drop_front(3))
        spans.emplace_back(rest[0], rest[1], rest[2]);
      auto spanVector = spans.empty() ? 0 : builder.CreateVectorOfStructs(spans);
      auto kernel =
          fb::CreateKernelLaunch(builder, symbol, launch.getGrid(), bufferVector,
                                 launch.getScratchBytes(), launch.getItemsPerTile(), rowBytes,
                                 static_cast<int32_t>(launch.getThreads()), spanVector);
      return made(fb::Operation::KernelLaunch, kernel.Union(), launch.getSource());
    }
    if (auto loop = dyn_cast<TileLoopOp>(op)) {
      std::vector<flatbuffers::Offset<fb::Step>> steps;
      for (Operation &inner : loop.getBody().front())
        steps.push_back(step(inner));
      auto tiles = fb::CreateTileLoop(builder, loop.getRows(), loop.getTile(), loop.getTileBytes(),
                                      loop.getSequential(), builder.CreateVector(steps));
      return made(fb::Operation::TileLoop, tiles.Union(), loop.getSource());
    }
    if (auto attention = dyn_cast<LibraryAttentionOp>(op)) {
      std::vector<fb::BufferRef> buffers;
      for (Attribute buffer : attention.getBuffers())
        buffers.push_back(bufferRef(buffer));
      auto bufferVector = builder.CreateVectorOfStructs(buffers);
      auto strides =
          builder.CreateVector(attention.getStrides().data(), attention.getStrides().size());
      auto call = fb::CreateAttention(
          builder, attention.getBatch(), attention.getLength(), attention.getKeyLength(),
          attention.getHeads(), attention.getKvHeads(), attention.getHeadSize(),
          attention.getCausal(), attention.getBackward(), attention.getScale().convertToDouble(),
          bufferVector, strides);
      return made(fb::Operation::Attention, call.Union(), attention.getSource());
    }
    if (auto transform = dyn_cast<LibraryFftOp>(op)) {
      fb::BufferRef real = bufferRef(transform.getBuffers()[0]),
                    spectrum = bufferRef(transform.getBuffers()[1]);
      auto call = fb::CreateTransform(builder, transform.getPoints(), transform.getSignals(),
                                      transform.getInverse(), dtypeOf(transform.getElementType()),
                                      &real, &spectrum);
      return made(fb::Operation::Transform, call.Union(), transform.getSource());
    }
    auto vectorOf = [&](ArrayRef<Attribute> attributes) {
      std::vector<fb::BufferRef> buffers;
      for (Attribute buffer : attributes)
        buffers.push_back(bufferRef(buffer));
      return builder.CreateVectorOfStructs(buffers);
    };
    if (auto reduction = dyn_cast<AllReduceOp>(op)) {
      ArrayRef<Attribute> buffers = reduction.getBuffers().getValue();
      fb::BufferRef weight;
      if (reduction.hasWeight()) {
        weight = bufferRef(buffers.back());
        buffers = buffers.drop_back();
      }
      auto table = fb::CreateAllReduce(
          builder, dtypeOf(reduction.getElementType()), dtypeOf(reduction.getWire()),
          vectorOf(buffers), reduction.hasWeight() ? &weight : nullptr, reduction.getWeighted(),
          reduction.getToOwners(), reduction.getRelease());
      return made(fb::Operation::AllReduce, table.Union(), reduction.getSource());
    }
    if (auto await = dyn_cast<AwaitOp>(op)) {
      auto table = fb::CreateAwait(builder, vectorOf(await.getBuffers().getValue()));
      return made(fb::Operation::Await, table.Union(), await.getSource());
    }
    if (auto gather = dyn_cast<AllGatherOp>(op)) {
      auto table = fb::CreateAllGather(builder, vectorOf(gather.getBuffers().getValue()));
      return made(fb::Operation::AllGather, table.Union(), gather.getSource());
    }
    if (auto release = dyn_cast<ReleaseOp>(op)) {
      auto table = fb::CreateRelease(builder, vectorOf(release.getBuffers().getValue()));
      return made(fb::Operation::Release, table.Union(), release.getSource());
    }
    if (auto exchange = dyn_cast<ExchangeOp>(op)) {
      ArrayRef<Attribute> buffers = exchange.getBuffers().getValue();
      fb::BufferRef first = bufferRef(buffers.front()), last = bufferRef(buffers.back());
      const bool receives = exchange.givesToAll() || !exchange.gives();
      auto table =
          fb::CreateExchange(builder, static_cast<fb::RankPattern>(exchange.getPattern()),
                             static_cast<int32_t>(exchange.getRanks()),
                             exchange.gives() ? &first : nullptr, receives ? &last : nullptr);
      return made(fb::Operation::Exchange, table.Union(), exchange.getSource());
    }
    auto product = cast<LibraryMatmulOp>(op);
    ArrayAttr buffers = product.getBuffers();
    fb::BufferRef a = bufferRef(buffers[0]), b = bufferRef(buffers[1]), c = bufferRef(buffers[2]),
                  bias, offsets, addend;
    int64_t groups = product.getGroups();
    const auto ldAddend = static_cast<int64_t>(product.getLdAddend());
    bool hasBias = !groups && buffers.size() > (ldAddend ? 4 : 3);
    if (hasBias)
      bias = bufferRef(buffers[3]);
    if (groups)
      offsets = bufferRef(buffers[3]);
    if (ldAddend)
      addend = bufferRef(buffers[buffers.size() - 1]);
    int64_t strideB = product.getTransposeA() ? 0 : product.getGroupStride(),
            strideC = product.getTransposeA() ? product.getGroupStride() : 0;
    const auto batch = static_cast<int64_t>(product.getBatch());
    int64_t strideA = 0;
    if (batch > 1)
      strideA = product.getBatchStrides()[0], strideB = product.getBatchStrides()[1],
      strideC = product.getBatchStrides()[2];
    auto matmul = fb::CreateMatmul(
        builder, product.getM(), product.getN(), product.getK(), product.getLda(), product.getLdb(),
        product.getLdc(), product.getTransposeA(), product.getTransposeB(), product.getAccumulate(),
        dtypeOf(product.getElementType()), &a, &b, &c, hasBias ? &bias : nullptr,
        groups ? groups : batch, strideA, strideB, strideC, groups ? &offsets : nullptr,
        product.getTileRows(), product.getTileSum(), ldAddend ? &addend : nullptr, ldAddend,
        /*batch_stride_addend=*/0, product.getRoundsResult());
    return made(fb::Operation::Matmul, matmul.Union(), product.getSource());
  }

  flatbuffers::Offset<fb::Program> program(ProgramOp op) {
    std::vector<flatbuffers::Offset<fb::Tensor>> inputs, outputs;
    std::vector<flatbuffers::Offset<fb::Step>> steps;
    for (Attribute input : op.getInputs())
      inputs.push_back(tensor(input));
    for (Attribute output : op.getOutputs())
      outputs.push_back(tensor(output));
    for (Operation &inner : op.getBody().front())
      steps.push_back(step(inner));
    auto name = builder.CreateString(op.getSymName().str());
    auto pause = op->getAttrOfType<IntegerAttr>("schedule.pause");
    return fb::CreateProgram(builder, name, builder.CreateVector(inputs),
                             builder.CreateVector(outputs), builder.CreateVector(steps),
                             op.getArenaBytes().value_or(0),
                             pause ? static_cast<uint32_t>(pause.getInt()) : 0);
  }

  flatbuffers::Offset<fb::Parameter> parameter(Attribute attribute) {
    auto entry = cast<DictionaryAttr>(attribute);
    auto type = cast<RankedTensorType>(cast<TypeAttr>(entry.get("type")).getValue());
    auto name = builder.CreateString(cast<StringAttr>(entry.get("name")).str());
    auto shape = builder.CreateVector(type.getShape().data(), type.getShape().size());
    return fb::CreateParameter(builder, name, shape, dtypeOf(type.getElementType()),
                               cast<IntegerAttr>(entry.get("offset")).getInt(),
                               cast<BoolAttr>(entry.get("trainable")).getValue(),
                               cast<BoolAttr>(entry.get("decay")).getValue(),
                               cast<FloatAttr>(entry.get("lr_scale")).getValueAsDouble());
  }

  /// What launches of a kernel have in common, as fb::Kernel.
  struct BufferShape {
    int64_t rowBytes;
    bool written, inTile, isPresent;
    auto operator<=>(const BufferShape &) const = default;
  };
  struct KernelShape {
    std::string symbol;
    int64_t grid, itemsPerTile, tile;
    uint64_t scratchBytes;
    int32_t threads;
    std::vector<BufferShape> buffers;
    auto operator<=>(const KernelShape &) const = default;
  };
  static constexpr uint64_t mostAlignment = 64;
  /// With the least bytes and alignment of each buffer.
  std::map<KernelShape, std::vector<std::pair<uint64_t, uint64_t>>> kernels;

  flatbuffers::FlatBufferBuilder builder{1 << 20};
  const Code &code;
  llvm::StringMap<std::string> names; // of files, by path
};

} // namespace

static std::vector<char> serialize(ModuleOp module, const Code &code,
                                   const ExecutableTarget &target, const Provenance &provenance,
                                   uint64_t fingerprint) {
  ExecutableWriter writer(code, provenance);
  flatbuffers::FlatBufferBuilder &builder = writer.builder;
  auto integer = [&](StringRef name) {
    return static_cast<uint64_t>(module->getAttrOfType<IntegerAttr>(name).getInt());
  };

  std::vector<flatbuffers::Offset<fb::Program>> programs;
  uint64_t arenaBytes = 0;
  for (auto program : module.getOps<ProgramOp>()) {
    programs.push_back(writer.program(program));
    arenaBytes = std::max<uint64_t>(arenaBytes, program.getArenaBytes().value_or(0));
  }
  // The format looks programs up by name, so they are sorted; done here because flatbuffers' own
  // sort uses a deprecated function.
  llvm::sort(programs, [&](auto a, auto b) {
    return GetTemporaryPointer(builder, a)->name()->string_view() <
           GetTemporaryPointer(builder, b)->name()->string_view();
  });
  auto programVector = builder.CreateVector(programs);
  auto kernelVector = writer.kernelTable();
  std::vector<flatbuffers::Offset<fb::Parameter>> parameters, states;
  for (auto entry :
       module->getAttrOfType<ArrayAttr>("schedule.parameters").getAsRange<DictionaryAttr>()) {
    auto isState = entry.getAs<BoolAttr>("state"); // absent in what was scheduled before
    (isState && isState.getValue() ? states : parameters).push_back(writer.parameter(entry));
  }
  std::vector<flatbuffers::Offset<fb::Setting>> settings;
  for (auto [given, areParameters] :
       {std::pair(&provenance.options, false), std::pair(&provenance.parameters, true)})
    for (auto &[name, value] : *given)
      settings.push_back(
          fb::CreateSettingDirect(builder, name.c_str(), value.c_str(), areParameters));
  std::vector<flatbuffers::Offset<flatbuffers::String>> features;
  for (const std::string &feature : target.features)
    features.push_back(builder.CreateString(feature));
  auto targetTable =
      fb::CreateTarget(builder, builder.CreateString(target.device),
                       builder.CreateString(target.cpu), builder.CreateVector(features));
  auto constants = cast<DenseElementsAttr>(module->getAttr("schedule.constants")).getRawData();
  builder.ForceVectorAlignment(constants.size(), 1, 32);
  auto constantVector =
      builder.CreateVector(reinterpret_cast<const uint8_t *>(constants.data()), constants.size());
  builder.ForceVectorAlignment(code.sharedObject.size(), 1, 32);
  auto codeVector = builder.CreateVector(
      reinterpret_cast<const uint8_t *>(code.sharedObject.data()), code.sharedObject.size());
  std::vector<flatbuffers::Offset<fb::CodeImage>> images;
  for (const CodeImage &image : code.images) {
    builder.ForceVectorAlignment(image.bytes.size(), 1, 32);
    auto bytes = builder.CreateVector(reinterpret_cast<const uint8_t *>(image.bytes.data()),
                                      image.bytes.size());
    const bool isPtx = StringRef(image.architecture).starts_with("compute_");
    images.push_back(fb::CreateCodeImage(builder, builder.CreateString(image.architecture), bytes,
                                         XXH3_64bits(image.bytes.data(), image.bytes.size()),
                                         image.toolkit, leastDriver(image.toolkit, isPtx)));
  }
  auto imageVector = builder.CreateVector(images);
  auto compiler = builder.CreateString(provenance.compiler),
       model = builder.CreateString(provenance.model),
       source = builder.CreateString(provenance.sources.empty() ? std::string()
                                                                : provenance.sources.front().text),
       cost = builder.CreateString(provenance.cost);
  std::vector<flatbuffers::Offset<fb::SourceFile>> used;
  ArrayRef<SourceText> sources(provenance.sources);
  for (const SourceText &file : sources.empty() ? sources : sources.drop_front())
    used.push_back(fb::CreateSourceFileDirect(builder, file.name.c_str(), file.text.c_str()));
  auto usedVector = builder.CreateVector(used);
  auto settingVector = builder.CreateVector(settings);
  flatbuffers::Offset<fb::ExampleGather> examples;
  if (code.examples)
    examples = fb::CreateExampleGatherDirect(
        builder, code.examples->symbol.c_str(), code.examples->grid,
        static_cast<int32_t>(code.examples->threads), code.examples->program.c_str(),
        code.examples->inputs.c_str(), code.examples->targets.c_str());
  auto parameterVector = builder.CreateVector(parameters);
  auto stateVector = builder.CreateVector(states);
  std::vector<fb::BufferRef> shared;
  if (auto stretches = module->getAttrOfType<ArrayAttr>(sharedAttribute))
    for (Attribute stretch : stretches)
      shared.push_back(bufferRef(stretch));
  auto sharedVector = builder.CreateVectorOfStructs(shared);

  fb::ExecutableBuilder executable(builder);
  executable.add_version_major(formatMajor);
  executable.add_version_minor(0);
  executable.add_compiler(compiler);
  executable.add_target(targetTable);
  executable.add_model(model);
  executable.add_source(source);
  executable.add_kernels(kernelVector);
  executable.add_used(usedVector);
  executable.add_fingerprint(fingerprint);
  executable.add_settings(settingVector);
  executable.add_code(codeVector);
  executable.add_code_hash(XXH3_64bits(code.sharedObject.data(), code.sharedObject.size()));
  executable.add_parameters(parameterVector);
  executable.add_states(stateVector);
  if (!shared.empty()) {
    executable.add_shared(sharedVector);
    executable.add_shares_parameters(module->hasAttr(sharedParametersAttribute));
  }
  executable.add_parameter_bytes(integer("schedule.parameter_bytes"));
  executable.add_constants(constantVector);
  executable.add_constants_bytes(integer("schedule.constants_bytes"));
  executable.add_arena_bytes(arenaBytes);
  executable.add_programs(programVector);
  executable.add_cost(cost);
  executable.add_images(imageVector);
  executable.add_memory_budget(provenance.memoryBudget);
  if (auto replicas = ReplicasAttr::of(module))
    executable.add_replicas(static_cast<uint32_t>(replicas.getCount()));
  if (code.examples)
    executable.add_examples(examples);
  fb::FinishExecutableBuffer(builder, executable.Finish());
  return std::vector<char>(builder.GetBufferPointer(),
                           builder.GetBufferPointer() + builder.GetSize());
}

std::vector<char> writeExecutable(ModuleOp module, const Code &code, const ExecutableTarget &target,
                                  const Provenance &provenance) {
  // Costs are told for the machine that compiles; what is computed is the same on another.
  Provenance withoutCost = provenance;
  withoutCost.cost.clear();
  const std::vector<char> computed = serialize(module, code, target, withoutCost, 0);
  return serialize(module, code, target, provenance, XXH3_64bits(computed.data(), computed.size()));
}

} // namespace hybrid
