//===- TestExecutable.cpp - small executables for the runtime's tests --------===//
#include "test/unit/runtime/TestExecutable.h"
#include "runtime/files/File.h"
#include <gtest/gtest.h>
#include <xxhash.h>

namespace hybrid::rt::test {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

static const fb::BufferRef *pointerTo(const std::optional<fb::BufferRef> &buffer) {
  return buffer ? &*buffer : nullptr;
}

static Offset<flatbuffers::Vector<Offset<fb::Tensor>>>
writeTensors(FlatBufferBuilder &builder, const std::vector<TensorSpec> &specs) {
  std::vector<Offset<fb::Tensor>> tensors;
  for (const TensorSpec &spec : specs)
    tensors.push_back(fb::CreateTensor(
        builder, builder.CreateString(spec.name), builder.CreateVector(spec.shape), spec.dtype,
        pointerTo(spec.buffer), /*differentiable=*/true, spec.idsBelow));
  return builder.CreateVector(tensors);
}

static Offset<fb::Step> writeStep(FlatBufferBuilder &builder, const StepSpec &spec) {
  auto op = builder.CreateString(spec.op), location = builder.CreateString(spec.location);
  auto made = [&](fb::Operation kind, Offset<void> operation) {
    auto after = spec.after.empty() ? 0 : builder.CreateVector(spec.after);
    return fb::CreateStep(builder, kind, operation, op, location, spec.branch, after);
  };
  if (spec.matmul) {
    const MatmulSpec &m = *spec.matmul;
    auto product = fb::CreateMatmul(
        builder, m.m, m.n, m.k, m.lda, m.ldb, m.ldc, m.transposeA, m.transposeB, m.accumulate,
        m.dtype, pointerTo(m.a), pointerTo(m.b), pointerTo(m.c), pointerTo(m.bias), m.batch,
        m.batchStrideA, m.batchStrideB, m.batchStrideC, pointerTo(m.offsets), m.tileRows, m.tileSum,
        pointerTo(m.addend), m.ldAddend, m.batchStrideAddend, m.roundsResult);
    return made(fb::Operation::Matmul, product.Union());
  }
  if (spec.attention) {
    const AttentionSpec &a = *spec.attention;
    auto call =
        fb::CreateAttention(builder, a.batch, a.length, a.keyLength, a.heads, a.kvHeads, a.headSize,
                            a.causal, a.backward, a.scale, builder.CreateVectorOfStructs(a.buffers),
                            builder.CreateVector(a.strides));
    return made(fb::Operation::Attention, call.Union());
  }
  if (spec.transform) {
    const TransformSpec &t = *spec.transform;
    auto call = fb::CreateTransform(builder, t.points, t.signals, t.inverse, t.dtype,
                                    pointerTo(t.real), pointerTo(t.spectrum));
    return fb::CreateStep(builder, fb::Operation::Transform, call.Union(), op, location);
  }
  if (spec.loop) {
    std::vector<Offset<fb::Step>> steps;
    for (const StepSpec &inner : spec.loop->steps)
      steps.push_back(writeStep(builder, inner));
    auto loop = fb::CreateTileLoop(builder, spec.loop->rows, spec.loop->tile, spec.loop->tileBytes,
                                   spec.loop->sequential, builder.CreateVector(steps));
    return made(fb::Operation::TileLoop, loop.Union());
  }
  auto launch =
      fb::CreateKernelLaunch(builder, builder.CreateString(spec.symbol), spec.grid,
                             builder.CreateVectorOfStructs(spec.buffers), spec.scratchBytes,
                             spec.itemsPerTile, builder.CreateVector(spec.rowBytes), spec.threads);
  return made(fb::Operation::KernelLaunch, launch.Union());
}

std::vector<std::byte> ExecutableSpec::bytes() const {
  FlatBufferBuilder builder;
  std::vector<Offset<fb::Parameter>> parameterTables, stateTables;
  for (auto [specs, tables] :
       {std::pair(&parameters, &parameterTables), std::pair(&states, &stateTables)})
    for (const ParameterSpec &spec : *specs)
      tables->push_back(fb::CreateParameter(builder, builder.CreateString(spec.name),
                                            builder.CreateVector(spec.shape), spec.dtype,
                                            spec.offset, spec.trainable, spec.decay, spec.lrScale));
  std::vector<Offset<fb::Program>> programTables;
  for (const ProgramSpec &spec : programs) {
    std::vector<Offset<fb::Step>> steps;
    for (const StepSpec &step : spec.steps)
      steps.push_back(writeStep(builder, step));
    auto inputs = writeTensors(builder, spec.inputs), outputs = writeTensors(builder, spec.outputs);
    programTables.push_back(fb::CreateProgram(builder, builder.CreateString(spec.name), inputs,
                                              outputs, builder.CreateVector(steps),
                                              spec.arenaBytes));
  }
  std::vector<Offset<flatbuffers::String>> featureTexts;
  for (const std::string &feature : features)
    featureTexts.push_back(builder.CreateString(feature));
  auto target = fb::CreateTarget(builder, builder.CreateString(device), builder.CreateString(cpu),
                                 builder.CreateVector(featureTexts));
  std::vector<Offset<fb::Setting>> settings = {
      fb::CreateSetting(builder, builder.CreateString("batch"), builder.CreateString("1"))};
  builder.ForceVectorAlignment(code.size(), 1, 32);
  auto codeBytes = builder.CreateVector(code);
  builder.ForceVectorAlignment(constants.size(), 1, 32);
  auto constantBytes = builder.CreateVector(constants);
  std::vector<Offset<fb::CodeImage>> imageTables;
  for (const ImageSpec &image : images) {
    builder.ForceVectorAlignment(image.bytes.size(), 1, 32);
    auto bytes = builder.CreateVector(image.bytes);
    imageTables.push_back(fb::CreateCodeImage(
        builder, builder.CreateString(image.architecture), bytes,
        image.hash ? *image.hash : XXH3_64bits(image.bytes.data(), image.bytes.size()),
        image.toolkit, image.driver));
  }
  auto imageVector = builder.CreateVector(imageTables);
  Offset<fb::ExampleGather> gather;
  if (examples)
    gather = fb::CreateExampleGatherDirect(builder, examples->symbol.c_str(), examples->grid,
                                           examples->threads, examples->program.c_str(),
                                           examples->inputs.c_str(), examples->targets.c_str());
  std::vector<Offset<fb::Kernel>> kernelTables;
  for (const KernelSpec &kernel : kernels)
    kernelTables.push_back(fb::CreateKernel(
        builder, builder.CreateString(kernel.symbol), kernel.grid, kernel.itemsPerTile, kernel.tile,
        kernel.scratchBytes, kernel.threads, builder.CreateVectorOfStructs(kernel.buffers)));
  auto kernelVector = builder.CreateVector(kernelTables);
  auto root = fb::CreateExecutable(
      builder, major, minor, builder.CreateString("test compiler"), target,
      builder.CreateString("test"), builder.CreateString("model test() {}"),
      builder.CreateVector(settings), codeBytes,
      codeHash ? *codeHash : XXH3_64bits(code.data(), code.size()),
      builder.CreateVector(parameterTables), parameterBytes, constantBytes, constantsBytes,
      arenaBytes, builder.CreateVector(programTables), builder.CreateString("{}"), imageVector,
      replicas, gather,
      /*fingerprint=*/0, /*used=*/0, kernelVector, memoryBudget, builder.CreateVector(stateTables));
  fb::FinishExecutableBuffer(builder, root);
  const auto *data = reinterpret_cast<const std::byte *>(builder.GetBufferPointer());
  return {data, data + builder.GetSize()};
}

static void describe(const StepSpec &step, const LoopSpec *loop, std::vector<KernelSpec> &kernels) {
  if (step.loop)
    for (const StepSpec &inner : step.loop->steps)
      describe(inner, step.loop.get(), kernels);
  if (step.loop || step.matmul || step.attention || step.transform)
    return;
  KernelSpec kernel{step.symbol,           step.grid,         step.itemsPerTile,
                    loop ? loop->tile : 0, step.scratchBytes, step.threads};
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const fb::BufferRef &buffer = step.buffers[i];
    kernel.buffers.emplace_back(buffer.bytes(), step.rowBytes.empty() ? 0 : step.rowBytes[i], 16,
                                i > 0 || step.buffers.size() == 1,
                                buffer.space() == fb::Space::Tile);
  }
  kernels.push_back(std::move(kernel));
}

void ExecutableSpec::describeKernels() {
  major = 3;
  kernels.clear();
  for (const ProgramSpec &program : programs)
    for (const StepSpec &step : program.steps)
      describe(step, nullptr, kernels);
}

ProgramSpec &ExecutableSpec::program(const std::string &name) {
  for (ProgramSpec &program : programs)
    if (program.name == name)
      return program;
  ADD_FAILURE() << "no program " << name;
  return programs.front();
}

std::vector<uint8_t> testCode() {
  Result<std::vector<std::byte>> bytes = readFile(HYBRID_TEST_KERNELS, 1 << 20);
  if (!bytes) {
    ADD_FAILURE() << bytes.error().message;
    return {};
  }
  const auto *data = reinterpret_cast<const uint8_t *>(bytes->data());
  return {data, data + bytes->size()};
}

ExecutableSpec soundExecutable() {
  using enum fb::Space;
  ExecutableSpec spec;
  spec.code = testCode();
  spec.parameters = {{"w", {4, 4}, fb::DType::F32, 0}, {"b", {4}, fb::DType::F32, 64}};
  spec.parameters[1].decay = false;
  spec.parameterBytes = 128;
  spec.constants = {0, 0, 0x80, 0x3f}; // 1.0f, then zeros that `setup` replaces
  spec.constantsBytes = 64;
  spec.arenaBytes = 512;
  auto x = at(Arena, 0, 64), y = at(Arena, 64, 64), z = at(Arena, 128, 64);
  spec.programs.push_back({"forward",
                           {{"x", {16}, fb::DType::F32, x}},
                           {{"y", {16}, fb::DType::F32, y}, {"z", {4, 4}, fb::DType::F32, z}},
                           {{"add_one", 16, {x, y}, 0, {}, "add", "test.hyb:3:7"},
                            {"look_up", 16, {at(Constants, 0, 64), z}, 64, {}}},
                           256});
  spec.programs.push_back({"init",
                           {{"seed", {2}, fb::DType::I32, at(Arena, 0, 8)}},
                           {},
                           {{"draw", 20, {at(Arena, 0, 8), at(Parameters, 0, 80)}}},
                           64});
  MatmulSpec product{.m = 4, .n = 4, .k = 4, .lda = 4, .ldb = 4, .ldc = 4};
  product.a = x;
  product.b = at(Parameters, 0, 64);
  product.c = y;
  product.bias = at(Parameters, 64, 16);
  StepSpec productStep;
  productStep.matmul = product;
  spec.programs.push_back({"product",
                           {{"x", {4, 4}, fb::DType::F32, x}},
                           {{"y", {4, 4}, fb::DType::F32, y}},
                           {productStep},
                           256});
  spec.programs.push_back({"setup", {}, {}, {{"fill_table", 16, {at(Constants, 0, 64)}}}, 0});
  spec.programs.push_back(
      {"update",
       {{"hyper", {8}, fb::DType::F64, at(Arena, 0, 64)}},
       {},
       {{"step",
         20,
         {at(Arena, 0, 64), at(Parameters, 0, 80), at(Gradients, 0, 80), at(Moment1, 0, 80)}}},
       64});
  return spec;
}

ExecutableSpec tiledExecutable() {
  using enum fb::Space;
  ExecutableSpec spec = soundExecutable();
  ProgramSpec &program = spec.program("product");
  StepSpec add{"add_one", 16, {at(Arena, 0, 64), at(Tile, 0, 48)}, 0, {}, "add", "test.hyb:3:7"};
  add.itemsPerTile = 12, add.rowBytes = {0, 16};
  StepSpec product = program.steps[0];
  product.matmul->a = at(Tile, 0, 48), product.matmul->tileRows = true;
  StepSpec loop;
  loop.loop = std::make_shared<LoopSpec>(LoopSpec{4, 3, 48, false, {add, product}});
  program.steps = {loop};
  return spec;
}

ProgramSpec attentionProgram() {
  using enum fb::Space;
  auto q = at(Arena, 0, 64), k = at(Arena, 64, 64), v = at(Arena, 128, 64), o = at(Arena, 192, 64),
       lse = at(Arena, 256, 16);
  AttentionSpec attention;
  attention.length = attention.keyLength = 4, attention.causal = true;
  attention.buffers = {q, k, v, o, lse};
  for (int i = 0; i < 4; ++i)
    attention.strides.insert(attention.strides.end(), {32, 8, 8});
  StepSpec step;
  step.op = "attention", step.location = "test.hyb:5:3";
  step.attention = attention;
  auto tensor = [](const char *name, fb::BufferRef place) {
    return TensorSpec{name, {4, 8}, fb::DType::BF16, place};
  };
  return {"attend",
          {tensor("q", q), tensor("k", k), tensor("v", v)},
          {tensor("o", o), {"lse", {4}, fb::DType::F32, lse}},
          {step},
          320};
}

ProgramSpec transformProgram() {
  using enum fb::Space;
  auto x = at(Arena, 0, 48), spectrum = at(Arena, 64, 64);
  StepSpec step;
  step.op = "rfft", step.location = "test.hyb:6:3";
  step.transform = TransformSpec{.real = x, .spectrum = spectrum};
  return {"transform",
          {{"x", {6, 2}, fb::DType::F32, x}},
          {{"spectrum", {4, 2, 2}, fb::DType::F32, spectrum}},
          {step},
          128};
}

static void launchOnCuda(StepSpec &step) {
  step.threads = 32;
  if (step.loop) {
    step.loop = std::make_shared<LoopSpec>(*step.loop);
    for (StepSpec &inner : step.loop->steps)
      launchOnCuda(inner);
  }
}

ExecutableSpec onCuda(ExecutableSpec spec, std::vector<uint8_t> image) {
  spec.device = "cuda";
  spec.cpu = "";
  spec.code.clear();
  spec.images = {{"shim", std::move(image)}};
  for (ProgramSpec &program : spec.programs)
    for (StepSpec &step : program.steps)
      launchOnCuda(step);
  return spec;
}

std::shared_ptr<const Executable> loaded(const ExecutableSpec &spec) {
  auto executable = Executable::fromBytes(spec.bytes(), "test.hyx");
  if (!executable) {
    ADD_FAILURE() << executable.error().message;
    return nullptr;
  }
  return *executable;
}

} // namespace hybrid::rt::test
