//===- ExecutableTest.cpp - what a .hyx must be to be loaded -----------------===//
#include "executable/Limits.h"
#include "test/unit/runtime/TestExecutable.h"
#include <algorithm>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;

/// The reason why these bytes are refused; a failed test when they are not.
static std::string refusal(std::vector<std::byte> bytes) {
  auto executable = Executable::fromBytes(std::move(bytes), "broken.hyx");
  if (executable) {
    ADD_FAILURE() << "was accepted";
    return "";
  }
  std::string message = executable.error().message;
  EXPECT_EQ(message.find("broken.hyx: "), 0u) << message;
  return message;
}

#define EXPECT_REFUSED(spec, text)                                                                 \
  do {                                                                                             \
    std::string message = refusal((spec).bytes());                                                 \
    EXPECT_NE(message.find(text), std::string::npos) << message;                                   \
  } while (false)

TEST(Executable, DescribesItsContent) {
  ExecutableSpec spec = soundExecutable();
  spec.parameters[1].lrScale = 0.5;
  auto executable = loaded(spec);
  ASSERT_TRUE(executable);
  ASSERT_EQ(executable->parameters().size(), 2u);
  const ParameterInfo &bias = executable->parameters()[1];
  EXPECT_EQ(bias.name, "b");
  EXPECT_EQ(bias.offset, 64u);
  EXPECT_TRUE(bias.trainable);
  EXPECT_FALSE(bias.decay);
  EXPECT_EQ(bias.lrScale, 0.5);
  EXPECT_EQ(executable->parameters()[0].shapeText(), "[4, 4]");
  const ProgramInfo *forward = executable->findProgram("forward");
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->inputs.size(), 1u);
  EXPECT_EQ(forward->outputs.size(), 2u);
  EXPECT_EQ(forward->outputs[1].elements(), 16);
  EXPECT_EQ(executable->findProgram("train"), nullptr);
}

TEST(Executable, FingerprintFollowsTheContent) {
  ExecutableSpec spec = soundExecutable(), other = spec;
  EXPECT_EQ(loaded(spec)->fingerprint(), loaded(spec)->fingerprint());
  other.code.push_back(0);
  EXPECT_NE(loaded(spec)->fingerprint(), loaded(other)->fingerprint());
}

TEST(Executable, RefusesEveryTruncation) {
  std::vector<std::byte> bytes = soundExecutable().bytes();
  for (size_t size = 0; size < bytes.size(); size += size < 256 ? 1 : 13) {
    std::string message = refusal({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)});
    if (HasFailure())
      FAIL() << "truncated to " << size << " of " << bytes.size() << " bytes: " << message;
  }
}

TEST(Executable, SurvivesFlippedBytes) {
  ExecutableSpec spec = soundExecutable();
  spec.code.resize(64); // so that most flips hit the structure; no session is made of it
  const std::vector<std::byte> sound = spec.bytes();
  std::mt19937_64 random(1);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes = sound;
    for (uint64_t flips = 1 + random() % 4; flips; --flips)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    accepted += static_cast<bool>(Executable::fromBytes(std::move(bytes), "flipped.hyx"));
  }
  EXPECT_LT(accepted, 20000); // names and padding may change freely; the point is not to crash
}

TEST(Executable, RefusesWhatIsNoExecutable) {
  EXPECT_NE(refusal({}).find("truncated"), std::string::npos);
  std::string text(100, 'x');
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  EXPECT_NE(refusal(bytes).find("not a compiled model"), std::string::npos);
}

TEST(Executable, RefusesFilesThatCannotBeRead) {
  auto missing = Executable::load("/nonexistent/model.hyx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "cannot read '/nonexistent/model.hyx': No such file or directory");
  auto folder = Executable::load(testing::TempDir());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "cannot read '" + testing::TempDir() + "': is a directory");
  std::string pipe = testing::TempDir() + "hybrid-pipe";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(Executable::load(pipe)); // and does not wait for a writer
  unlink(pipe.c_str());
}

TEST(Executable, RefusesOtherVersionsAndDevices) {
  ExecutableSpec spec = soundExecutable();
  spec.major = hybrid::formatMajor + 1;
  EXPECT_REFUSED(spec, "format version " + std::to_string(hybrid::formatMajor + 1) + ".0");
  spec.major = 0;
  EXPECT_REFUSED(spec, "format version 0.0");
  spec = soundExecutable();
  spec.minor = 9; // a newer writer of the same major version only added what we may ignore
  EXPECT_TRUE(Executable::fromBytes(spec.bytes(), "newer.hyx"));
  spec = soundExecutable();
  spec.device = "cuda";
  EXPECT_REFUSED(spec, "'cuda'");
}

TEST(Executable, RefusesFeaturesThisProcessorLacks) {
  ExecutableSpec spec = soundExecutable();
  spec.features = {"sse2", "no_such_feature", "neither_this"};
  EXPECT_REFUSED(spec, "lacks: no_such_feature, neither_this");
  EXPECT_REFUSED(spec, "--target=cpu:x86-64-v3");
  spec.features = {"sse2"};
  EXPECT_TRUE(Executable::fromBytes(spec.bytes(), "sound.hyx"));
}

TEST(Executable, RefusesDamagedCode) {
  ExecutableSpec spec = soundExecutable();
  spec.codeHash = 42;
  EXPECT_REFUSED(spec, "hash");
  spec = soundExecutable();
  spec.code.clear();
  EXPECT_REFUSED(spec, "no code");
}

TEST(Executable, RefusesSenselessSpaces) {
  ExecutableSpec spec = soundExecutable();
  spec.arenaBytes = uint64_t(1) << 50;
  EXPECT_REFUSED(spec, "the arena would take");
  spec = soundExecutable();
  spec.parameterBytes = ~uint64_t(0);
  EXPECT_REFUSED(spec, "the parameters would take");
  spec = soundExecutable();
  spec.constants.resize(100);
  EXPECT_REFUSED(spec, "100 bytes of constants do not fit their space of 64");
  spec = soundExecutable();
  spec.program("forward").arenaBytes = 513;
  EXPECT_REFUSED(spec, "wants an arena of 513 bytes");
}

TEST(Executable, RefusesBrokenParameters) {
  ExecutableSpec spec = soundExecutable();
  spec.parameters[1].name = "w";
  EXPECT_REFUSED(spec, "two parameters are named 'w'");
  spec = soundExecutable();
  spec.parameters[1].name = "../../w";
  EXPECT_REFUSED(spec, "no sound name");
  spec = soundExecutable();
  spec.parameters[1].offset = 0;
  EXPECT_REFUSED(spec, "overlap");
  spec = soundExecutable();
  spec.parameters[1].offset = ~uint64_t(0) - 63;
  EXPECT_REFUSED(spec, "parameter 'b'");
  spec = soundExecutable();
  spec.parameters[1].offset = 68;
  EXPECT_REFUSED(spec, "misaligned");
  spec = soundExecutable();
  spec.parameters[0].shape = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_REFUSED(spec, "'w' would take more than");
  spec = soundExecutable();
  spec.parameters[0].shape = {-4, -4};
  EXPECT_REFUSED(spec, "extent of -4");
  spec = soundExecutable();
  spec.parameters[0].shape.assign(17, 1);
  EXPECT_REFUSED(spec, "17 dimensions");
  spec = soundExecutable();
  spec.parameters[0].dtype = static_cast<fb::DType>(9);
  EXPECT_REFUSED(spec, "unknown type 9");
}

TEST(Executable, RefusesBrokenPrograms) {
  ExecutableSpec spec = soundExecutable();
  spec.programs.clear();
  EXPECT_REFUSED(spec, "no program");
  spec = soundExecutable();
  spec.programs.push_back(spec.programs[0]);
  EXPECT_REFUSED(spec, "two programs are named 'forward'");
  spec = soundExecutable();
  spec.program("forward").outputs[1].name = "y";
  EXPECT_REFUSED(spec, "two outputs named 'y'");
  spec = soundExecutable();
  spec.program("forward").inputs[0].shape = {17};
  EXPECT_REFUSED(spec, "input 'x' of program 'forward' needs 68 bytes, but its place has 64");
  spec = soundExecutable();
  spec.program("forward").inputs[0].buffer.reset();
  EXPECT_REFUSED(spec, "no place in memory");
  spec = soundExecutable();
  spec.program("forward").inputs[0].buffer = at(Arena, 2, 64);
  EXPECT_REFUSED(spec, "misaligned at offset 2");
  spec = soundExecutable();
  spec.program("forward").inputs[0].idsBelow = 4;
  EXPECT_REFUSED(spec, "input 'x' of program 'forward' has ids below 4");
  spec = soundExecutable();
  spec.program("init").inputs[0].name = "sed";
  EXPECT_REFUSED(spec, "program 'init' has no input 'seed' of i32[2]");
  spec = soundExecutable();
  spec.program("update").inputs[0].dtype = fb::DType::F32;
  spec.program("update").inputs[0].shape = {16};
  EXPECT_REFUSED(spec, "program 'update' has no input 'hyper' of f64[8]");
}

TEST(Executable, RefusesBuffersOutsideOfTheirSpace) {
  const std::pair<fb::BufferRef, const char *> broken[] = {
      {at(Arena, 200, 64), "leaves the 256 bytes of space Arena"},
      {at(Arena, ~uint64_t(0) - 3, 8), "leaves the 256 bytes"},
      {at(Arena, 8, ~uint64_t(0) - 3), "leaves the 256 bytes"},
      {at(Constants, 4, 64), "leaves the 64 bytes of space Constants"},
      {at(Moment2, 128, 4), "leaves the 128 bytes of space Moment2"},
      {at(static_cast<fb::Space>(77), 0, 4), "unknown space 77"},
      {at(Arena, 3, 4), "misaligned"}};
  for (const auto &[buffer, text] : broken) {
    ExecutableSpec spec = soundExecutable();
    spec.program("forward").steps[0].buffers[1] = buffer;
    EXPECT_REFUSED(spec, text);
  }
}

TEST(Executable, RefusesBrokenLaunches) {
  ExecutableSpec spec = soundExecutable();
  spec.program("forward").steps[0].grid = 0;
  EXPECT_REFUSED(spec, "step 0 of program 'forward' (add_one) has a grid of 0");
  spec.program("forward").steps[0].grid = -1;
  EXPECT_REFUSED(spec, "grid of -1");
  spec = soundExecutable();
  spec.program("forward").steps[1].scratchBytes = ~uint64_t(0);
  EXPECT_REFUSED(spec, "scratch");
  spec = soundExecutable();
  spec.program("forward").steps[0].buffers.assign(5000, at(Arena, 0, 4));
  EXPECT_REFUSED(spec, "5000 buffers");
  spec = soundExecutable();
  spec.program("forward").steps[0].symbol = "";
  EXPECT_REFUSED(spec, "no sound symbol");
}

TEST(Executable, RefusesBrokenLoopsOverTiles) {
  struct Case {
    void (*change)(LoopSpec &);
    const char *text;
  };
  const Case cases[] = {
      {[](LoopSpec &l) { l.tile = 0; }, "tiles of 0 rows of 4"},
      {[](LoopSpec &l) { l.tile = 5; }, "tiles of 5 rows of 4"},
      {[](LoopSpec &l) { l.rows = int64_t(1) << 62; }, "rows of"},
      {[](LoopSpec &l) { l.tileBytes = ~uint64_t(0); }, "a tile, more than the limit"},
      {[](LoopSpec &l) { l.tileBytes = 47; }, "leaves the 47 bytes"},
      {[](LoopSpec &l) { l.steps[0].itemsPerTile = 0; }, "16 items for 2 tiles of 0 items"},
      {[](LoopSpec &l) { l.steps[0].itemsPerTile = 7; }, "16 items for 2 tiles of 7 items"},
      {[](LoopSpec &l) { l.steps[0].rowBytes = {16}; }, "2 buffers, but row distances for 1"},
      {[](LoopSpec &l) { l.steps[0].rowBytes = {}; }, "no distance of its rows"},
      {[](LoopSpec &l) { l.steps[1].matmul->tileRows = false; }, "does not say how tiles"},
      {[](LoopSpec &l) { l.steps[1].matmul->tileSum = true; }, "does not say how tiles"},
      {[](LoopSpec &l) { l.steps[1].matmul->m = 3; }, "does not say how tiles"},
      {[](LoopSpec &l) { l.steps[1].matmul->a = at(fb::Space::Tile, 0, 44); }, "operand a"},
      {[](LoopSpec &l) { l.steps[1].matmul->b = at(fb::Space::Tile, 0, 48); },
       "all of it is needed"},
      // A sum over rows needs tiles in order.
      {[](LoopSpec &l) {
         l.steps[1].matmul->tileRows = false, l.steps[1].matmul->tileSum = true;
         l.steps[1].matmul->transposeA = true;
       },
       "does not say how tiles"},
      {[](LoopSpec &l) {
         StepSpec inner;
         inner.loop = std::make_shared<LoopSpec>(LoopSpec{4, 3, 48, false, {l.steps[0]}});
         l.steps.push_back(inner);
       },
       "inside of another"}};
  EXPECT_TRUE(loaded(tiledExecutable()));
  for (const Case &one : cases) {
    ExecutableSpec spec = tiledExecutable();
    one.change(*spec.program("product").steps[0].loop);
    EXPECT_REFUSED(spec, one.text);
  }
  // Outside of a loop there is no tile.
  ExecutableSpec spec = soundExecutable();
  spec.program("forward").steps[0].buffers[1] = at(fb::Space::Tile, 0, 4);
  EXPECT_REFUSED(spec, "forward");
}

TEST(Executable, RefusesProductsOutsideOfTheirOperands) {
  struct Case {
    void (*change)(MatmulSpec &);
    const char *text;
  };
  const Case cases[] = {
      {[](MatmulSpec &m) { m.m = 0; }, "m = 0"},
      {[](MatmulSpec &m) { m.k = -1; }, "k = -1"},
      {[](MatmulSpec &m) { m.lda = 3; }, "operand a"},
      {[](MatmulSpec &m) { m.m = 5; }, "operand a"},
      {[](MatmulSpec &m) { m.ldb = 5; }, "operand b"},
      {[](MatmulSpec &m) { m.ldc = int64_t(1) << 62; }, "operand c"},
      {[](MatmulSpec &m) { m.batch = 2, m.batchStrideA = 0, m.batchStrideC = 16; }, "operand c"},
      {[](MatmulSpec &m) { m.batch = 2, m.m = 1, m.batchStrideC = 0; }, "to one place"},
      {[](MatmulSpec &m) { m.batch = int64_t(1) << 62, m.batchStrideA = int64_t(1) << 62; },
       "operand a"},
      {[](MatmulSpec &m) { m.batchStrideB = -16; }, "batch stride of -16"},
      {[](MatmulSpec &m) { m.bias = at(Parameters, 64, 12); }, "operand bias"},
      {[](MatmulSpec &m) { m.a.reset(); }, "operand a"},
      {[](MatmulSpec &m) { m.addend = at(Arena, 0, 64), m.ldAddend = 4; }, "has an addend"},
      {[](MatmulSpec &m) { m.dtype = fb::DType::I32; }, "f32, f64 or bf16"},
      // bf16 halves the operands, not the sums.
      {[](MatmulSpec &m) { m.dtype = fb::DType::BF16, m.c = at(Arena, 64, 32); }, "operand c"},
      {[](MatmulSpec &m) { m.dtype = fb::DType::F64; }, "operand a"},
      {[](MatmulSpec &m) { m.c = at(Arena, 65, 64); }, "misaligned"}};
  for (const Case &one : cases) {
    ExecutableSpec spec = soundExecutable();
    one.change(*spec.program("product").steps[0].matmul);
    EXPECT_REFUSED(spec, one.text);
  }
}

/// An executable for CUDA that is sound as a file; its image is no code.
static ExecutableSpec cudaExecutable() { return onCuda(soundExecutable(), {1, 2, 3, 4}); }

TEST(Executable, RefusesRoundedResultsThatNoLibraryMakes) {
  auto rounded = [](ExecutableSpec spec, void (*change)(MatmulSpec &)) {
    MatmulSpec &product = *spec.program("product").steps[0].matmul;
    product.dtype = fb::DType::BF16, product.roundsResult = true;
    product.c = at(Arena, 64, 32), product.bias.reset(); // of half the bytes
    change(product);
    return spec;
  };
  for (const ExecutableSpec &spec : {soundExecutable(), cudaExecutable()})
    for (void (*change)(MatmulSpec &) :
         {+[](MatmulSpec &) {}, +[](MatmulSpec &m) { m.bias = at(Parameters, 64, 8); }})
      EXPECT_TRUE(Executable::fromBytes(rounded(spec, change).bytes(), "rounded.hyx"));
  const char *refused = "rounds its result";
  for (void (*change)(MatmulSpec &) :
       {+[](MatmulSpec &m) { m.dtype = fb::DType::F32; },
        +[](MatmulSpec &m) { m.accumulate = true; },
        +[](MatmulSpec &m) { m.addend = at(Arena, 0, 64), m.ldAddend = 4; }})
    EXPECT_REFUSED(rounded(cudaExecutable(), change), refused);
  EXPECT_REFUSED(rounded(cudaExecutable(), [](MatmulSpec &m) { m.c = at(Arena, 64, 30); }),
                 "operand c");
  EXPECT_REFUSED(rounded(cudaExecutable(), [](MatmulSpec &m) { m.bias = at(Parameters, 64, 6); }),
                 "operand bias");
}

TEST(Executable, PartsOfActivationsBeginAtAnyElementOfBf16) {
  for (ExecutableSpec spec : {soundExecutable(), cudaExecutable()}) {
    auto &place = spec.program("forward").steps[0].buffers[1];
    place = at(Arena, 66, 4);
    EXPECT_TRUE(Executable::fromBytes(spec.bytes(), "part.hyx"));
    place = at(Arena, 67, 4);
    EXPECT_REFUSED(spec, "misaligned");
  }
}

TEST(Executable, RefusesAddendsThatDoNotFit) {
  auto withAddend = [](void (*change)(MatmulSpec &)) {
    ExecutableSpec spec = cudaExecutable();
    MatmulSpec &product = *spec.program("product").steps[0].matmul;
    product.addend = at(Arena, 0, 64), product.ldAddend = 4;
    change(product);
    return spec;
  };
  EXPECT_TRUE(Executable::fromBytes(withAddend([](MatmulSpec &) {}).bytes(), "addend.hyx"));
  EXPECT_REFUSED(withAddend([](MatmulSpec &m) { m.addend = at(Arena, 0, 60); }), "operand addend");
  EXPECT_REFUSED(withAddend([](MatmulSpec &m) { m.ldAddend = 3; }), "operand addend");
  EXPECT_REFUSED(withAddend([](MatmulSpec &m) { m.accumulate = true; }), "has an addend");
}

TEST(Executable, RefusesAttentionOutsideOfItsOperands) {
  auto withAttention = [] {
    ExecutableSpec spec = cudaExecutable();
    spec.arenaBytes = std::max<uint64_t>(spec.arenaBytes, 320);
    spec.programs.insert(spec.programs.begin(), attentionProgram()); // in the order of names
    return spec;
  };
  struct Case {
    void (*change)(AttentionSpec &);
    const char *text;
  };
  const Case cases[] = {
      {[](AttentionSpec &a) { a.batch = 0; }, "a size of 0"},
      {[](AttentionSpec &a) { a.headSize = int64_t(1) << 40; }, "a size of 1099511627776"},
      {[](AttentionSpec &a) { a.heads = 2, a.kvHeads = 3; }, "2 heads over 3"},
      {[](AttentionSpec &a) { a.keyLength = 3; }, "4 queries over 3 keys, causal"},
      {[](AttentionSpec &a) { a.scale = std::numeric_limits<double>::infinity(); }, "scale inf"},
      {[](AttentionSpec &a) { a.backward = true; }, "5 buffers and 12 strides"},
      {[](AttentionSpec &a) { a.strides.pop_back(); }, "5 buffers and 11 strides"},
      {[](AttentionSpec &a) { a.buffers.pop_back(); }, "4 buffers"},
      {[](AttentionSpec &a) { a.batch = 2; }, "buffer 0"},
      {[](AttentionSpec &a) { a.batch = int64_t(1) << 31, a.strides[0] = int64_t(1) << 40; },
       "buffer 0"},
      {[](AttentionSpec &a) { a.heads = 2; }, "buffer 0"},
      {[](AttentionSpec &a) { a.strides[4] = 16; }, "buffer 1"},
      {[](AttentionSpec &a) { a.strides[7] = -8; }, "a stride of -8"},
      {[](AttentionSpec &a) { a.strides[10] = 4; }, "multiples of 16 bytes"},
      {[](AttentionSpec &a) { a.buffers[3] = at(Arena, 200, 64); }, "multiples of 16 bytes"},
      {[](AttentionSpec &a) { a.buffers[2] = at(Arena, 288, 64); }, "leaves the 320 bytes"},
      {[](AttentionSpec &a) { a.buffers[4] = at(Arena, 256, 12); }, "(statistics) has 12 bytes"}};
  EXPECT_TRUE(loaded(withAttention()));
  for (const Case &one : cases) {
    ExecutableSpec spec = withAttention();
    one.change(*spec.program("attend").steps[0].attention);
    EXPECT_REFUSED(spec, one.text);
  }
  ExecutableSpec spec = soundExecutable();
  spec.arenaBytes = std::max<uint64_t>(spec.arenaBytes, 320);
  spec.programs.insert(spec.programs.begin(), attentionProgram());
  EXPECT_REFUSED(spec, "not for a GPU");
}

TEST(Executable, RefusesTransformsOutsideOfTheirOperands) {
  auto withTransform = [](ExecutableSpec spec) {
    spec.arenaBytes = std::max<uint64_t>(spec.arenaBytes, 128);
    auto behind = std::find_if(spec.programs.begin(), spec.programs.end(),
                               [](const ProgramSpec &p) { return p.name > "transform"; });
    spec.programs.insert(behind, transformProgram()); // in the order of names
    return spec;
  };
  struct Case {
    void (*change)(TransformSpec &);
    const char *text;
  };
  const Case cases[] = {
      {[](TransformSpec &t) { t.points = 0; }, "a size of 0"},
      {[](TransformSpec &t) { t.signals = int64_t(1) << 31; }, "a size of 2147483648"},
      {[](TransformSpec &t) { t.dtype = fb::DType::I32; }, "in type 2"},
      {[](TransformSpec &t) { t.points = 8; }, "operand real"},
      {[](TransformSpec &t) { t.signals = 3; }, "operand real"},
      {[](TransformSpec &t) { t.spectrum = at(Arena, 64, 60); }, "operand spectrum"},
      {[](TransformSpec &t) { t.spectrum = at(Arena, 68, 64); }, "operand spectrum"},
      {[](TransformSpec &t) { t.spectrum = at(Arena, 60, 64); }, "misaligned at offset 60"},
      {[](TransformSpec &t) { t.real = {}; }, "has no place"},
      {[](TransformSpec &t) { t.spectrum = at(Constants, 0, 64); }, "writes to space Constants"},
      {[](TransformSpec &t) { t.real = at(Constants, 0, 48), t.inverse = true; },
       "writes to space Constants"}};
  ExecutableSpec sound = cudaExecutable();
  sound.constantsBytes = std::max<uint64_t>(sound.constantsBytes, 128);
  EXPECT_TRUE(loaded(withTransform(sound)));
  for (const Case &one : cases) {
    ExecutableSpec spec = withTransform(sound);
    one.change(*spec.program("transform").steps[0].transform);
    EXPECT_REFUSED(spec, one.text);
  }
  EXPECT_REFUSED(withTransform(soundExecutable()), "not for a GPU");
}

TEST(Executable, AcceptsCudaExecutables) {
  ExecutableSpec spec = cudaExecutable();
  spec.images.push_back({"sm_90a", {5}});
  spec.images.push_back({"sm_80", {6}});
  spec.images.push_back({"compute_90", {7}});
  spec.images.push_back({"sm_120", {8}});
  EXPECT_TRUE(loaded(spec));
}

TEST(Executable, RefusesBrokenImages) {
  ExecutableSpec spec = cudaExecutable();
  spec.images.clear();
  EXPECT_REFUSED(spec, "holds no code");
  spec = cudaExecutable();
  spec.code = {1};
  EXPECT_REFUSED(spec, "1 bytes of code for a CPU");
  spec = cudaExecutable();
  spec.images[0].hash = 1;
  EXPECT_REFUSED(spec, "the hash of the code for 'shim'");
  spec = cudaExecutable();
  spec.images[0].bytes.clear();
  EXPECT_REFUSED(spec, "is empty");
  spec = cudaExecutable();
  spec.images.push_back(spec.images[0]);
  EXPECT_REFUSED(spec, "two code images are for 'shim'");
  for (const char *name : {"", "sm_", "sm_9", "sm_090", "sm_9x", "sm_9000", "gfx90a", "compute_"}) {
    spec = cudaExecutable();
    spec.images[0].architecture = name;
    EXPECT_REFUSED(spec, "no architecture");
  }
}

TEST(Executable, RefusesBrokenGathersOfExamples) {
  auto gathering = [] {
    ExecutableSpec spec = cudaExecutable();
    spec.program("product").inputs = {{"targets", {4, 4}, fb::DType::I32, at(Arena, 64, 64)},
                                      {"tokens", {4, 2, 2}, fb::DType::F32, at(Arena, 0, 64)}};
    spec.examples = GatherSpec{.program = "product"};
    return spec;
  };
  EXPECT_TRUE(loaded(gathering()));
  struct Case {
    void (*change)(ExecutableSpec &);
    const char *text;
  };
  const Case cases[] = {
      {[](ExecutableSpec &s) { s.examples->symbol = ""; }, "no sound name"},
      {[](ExecutableSpec &s) { s.examples->program = "p\n"; }, "no sound name"},
      {[](ExecutableSpec &s) { s.examples->program = "train"; },
       "no inputs 'tokens' and 'targets'"},
      {[](ExecutableSpec &s) { s.examples->grid = 0; }, "0 blocks of 128 threads"},
      {[](ExecutableSpec &s) { s.examples->grid = int64_t(1) << 21; }, "2097152 blocks"},
      {[](ExecutableSpec &s) { s.examples->threads = 33; }, "1 blocks of 33 threads"},
      {[](ExecutableSpec &s) { s.examples->inputs = "x"; }, "input 'tokens' of program 'product'"},
      {[](ExecutableSpec &s) { s.examples->inputs = "targets"; }, "no inputs 'targets' and"},
      {[](ExecutableSpec &s) { s.program("product").inputs.pop_back(); }, "no inputs 'tokens'"},
      {[](ExecutableSpec &s) { s.program("product").inputs[0].shape = {2, 8}; },
       "'tokens' of program 'product' is no batch"},
      {[](ExecutableSpec &s) {
         s.program("product").inputs[1].dtype = fb::DType::F64;
         s.program("product").inputs[1].shape = {4, 2};
       },
       "'tokens' of program 'product' is no batch"},
      {[](ExecutableSpec &s) { s.program("product").inputs[0].buffer = at(Arena, 68, 64); },
       "'targets' of program 'product' is no batch"},
  };
  for (const Case &one : cases) {
    ExecutableSpec spec = gathering();
    one.change(spec);
    EXPECT_REFUSED(spec, one.text);
  }
  ExecutableSpec spec = soundExecutable();
  spec.examples = GatherSpec{};
  EXPECT_REFUSED(spec, "gathers batches on a GPU");
}

TEST(Executable, RefusesBrokenCudaLaunches) {
  for (int threads : {0, -32, 31, 33, 1056}) {
    ExecutableSpec spec = cudaExecutable();
    spec.program("forward").steps[0].threads = threads;
    EXPECT_REFUSED(spec, "blocks of " + std::to_string(threads) + " threads");
  }
  ExecutableSpec spec = cudaExecutable();
  StepSpec &step = spec.program("forward").steps[0];
  step.scratchBytes = 227 * 1024 + 4;
  EXPECT_REFUSED(spec, "shared memory");
  step.scratchBytes = 227 * 1024;
  EXPECT_TRUE(loaded(spec));
  step.buffers.resize(64, step.buffers[0]);
  EXPECT_TRUE(loaded(spec));
  step.buffers.resize(65, step.buffers[0]);
  EXPECT_REFUSED(spec, "65 buffers, more than the limit of 64");
  spec = cudaExecutable();
  spec.program("forward").steps[0].grid = int64_t(1) << 31;
  EXPECT_REFUSED(spec, "2147483648 blocks");
  spec = onCuda(tiledExecutable(), {1});
  LoopSpec &loop = *spec.program("product").steps[0].loop;
  loop.rows = int64_t(1) << 40, loop.tile = 1;
  EXPECT_REFUSED(spec, "launches");
}

TEST(Executable, LaunchesAreWhatTheirKernelsWereMadeFor) {
  const std::pair<void (*)(StepSpec &), const char *> launches[] = {
      {[](StepSpec &s) { s.grid = 15; }, "has 15 work items, expected 16"},
      {[](StepSpec &s) { s.scratchBytes = 64; }, "has 64 bytes of scratch, expected 0"},
      {[](StepSpec &s) { s.threads = 32; }, "has 32 threads, expected 0"},
      {[](StepSpec &s) { s.buffers.pop_back(); }, "has 1 buffers, expected 2"},
      {[](StepSpec &s) { s.buffers[0] = at(Arena, 0, 60); },
       "has 60 bytes for buffer 0, expected 64"},
      {[](StepSpec &s) { s.buffers[0] = at(Arena, 0, 0); },
       "has 0 bytes for buffer 0, expected 64"},
      {[](StepSpec &s) { s.buffers[1] = at(Arena, 68, 64); },
       "at offset 68, expected a multiple of 16"},
      {[](StepSpec &s) { s.symbol = "draw"; }, "it has 16 work items, expected 20"},
      {[](StepSpec &s) { s.symbol = "other"; }, "(other) that the executable does not describe"},
      {[](StepSpec &s) { s.buffers[1] = at(Constants, 0, 64); }, "writes to space Constants"},
      {[](StepSpec &s) { s.buffers[1] = at(Parameters, 0, 64); }, "writes to space Parameters"}};
  for (auto [change, text] : launches) {
    ExecutableSpec spec = soundExecutable();
    spec.describeKernels();
    EXPECT_TRUE(loaded(spec));
    change(spec.program("forward").steps[0]);
    EXPECT_REFUSED(spec, text);
  }
  const std::pair<void (*)(LoopSpec &), const char *> loops[] = {
      {[](LoopSpec &l) { l.tile = 2; }, "rows a tile, expected 3"},
      {[](LoopSpec &l) { l.steps[0].rowBytes[1] = 20; },
       "rows of buffer 1 20 bytes apart, expected 16"},
      {[](LoopSpec &l) { l.steps[0].buffers[1] = at(Arena, 64, 64); },
       "has buffer 1 outside a tile"}};
  for (auto [change, text] : loops) {
    ExecutableSpec spec = tiledExecutable();
    spec.describeKernels();
    EXPECT_TRUE(loaded(spec));
    change(*spec.program("product").steps[0].loop);
    EXPECT_REFUSED(spec, text);
  }
}

TEST(Executable, StatesLieBehindParametersAndDecodingWritesThemOnly) {
  ExecutableSpec spec = soundExecutable();
  spec.states = {{"state:0", {16}, fb::DType::F32, 128}};
  spec.parameterBytes = 192;
  spec.programs.push_back(spec.program("forward"));
  spec.programs.back().name = "step";
  spec.programs.back().steps[0].buffers[1] = at(Parameters, 128, 64);
  spec.describeKernels();
  auto sound = loaded(spec);
  ASSERT_TRUE(sound);
  EXPECT_EQ(sound->states().size(), 1u);
  EXPECT_EQ(sound->parameters().size(), soundExecutable().parameters.size());
  ExecutableSpec broken = spec;
  broken.programs.back().steps[0].buffers[1] = at(Parameters, 0, 64);
  EXPECT_REFUSED(broken, "writes to space Parameters");
  broken = spec;
  broken.programs.back().name = "stride";
  EXPECT_REFUSED(broken, "writes to space Parameters");
  broken = spec;
  broken.states[0].offset = 64;
  EXPECT_REFUSED(broken, "overlap");
  broken = spec;
  broken.states[0].name = "w";
  EXPECT_REFUSED(broken, "two parameters are named 'w'");
}

TEST(Executable, OnlyLoopsHaveTiles) {
  ExecutableSpec spec = soundExecutable();
  spec.program("forward").steps[0].itemsPerTile = 4;
  EXPECT_REFUSED(spec, "is cut for tiles, but in no loop over tiles");
  for (bool MatmulSpec::*flag : {&MatmulSpec::tileRows, &MatmulSpec::tileSum}) {
    spec = soundExecutable();
    (*spec.program("product").steps[0].matmul).*flag = true;
    EXPECT_REFUSED(spec, "is cut for tiles, but in no loop over tiles");
  }
}
