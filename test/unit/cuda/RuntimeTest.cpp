//===- RuntimeTest.cpp - sessions on a GPU, with the tests' driver ----------===//
#include "executable/SessionMemory.h"
#include "runtime/cuda/Gpu.h"
#include "test/unit/cuda/CudaSession.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;

namespace {

TEST_F(CudaSession, RunsKernelsEagerlyAndAsAGraph) {
  auto session = sessionOf(sound());
  ASSERT_TRUE(session);
  for (int run = 0; run < 4; ++run) { // one by one, captured, replayed
    auto x = session->inputAs<float>("forward", "x");
    ASSERT_EQ(x.size(), 16u);
    fill(x, static_cast<float>(100 * run));
    EXPECT_RUNS(session->run("forward"));
    auto y = session->outputAs<float>("forward", "y"), z = session->outputAs<float>("forward", "z");
    ASSERT_EQ(y.size(), 16u);
    for (size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(y[i], static_cast<float>(100 * run) + static_cast<float>(i + 1));
      EXPECT_EQ(z[i], static_cast<float>(10 * i)) << "from the table that setup filled";
    }
  }
}

TEST_F(CudaSession, OutputsThatAreNotKeptAreReadFromTheDevice) {
  ExecutableSpec spec = sound();
  ProgramSpec &program = spec.program("forward");
  auto x = at(Arena, 0, 8192), y = at(Arena, 8192, 8192);
  spec.arenaBytes = program.arenaBytes = 16384;
  program.inputs = {{"x", {2048}, fb::DType::F32, x}};
  program.outputs = {{"y", {2048}, fb::DType::F32, y}};
  program.steps = {{"add_one", 2048, {x, y}}};
  program.steps[0].threads = 32;
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  fill(session->inputAs<float>("forward", "x"), 5);
  EXPECT_RUNS(session->run("forward"));
  auto values = session->outputAs<float>("forward", "y");
  ASSERT_EQ(values.size(), 2048u);
  EXPECT_EQ(values[2047], 2053);
  EXPECT_RUNS(session->initialize(1));
  EXPECT_TRUE(session->output("forward", "y").empty()) << "another program has run";
}

TEST_F(CudaSession, ParametersAreReadAndWritten) {
  auto session = sessionOf(sound());
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(uint64_t(3) << 32 | 5));
  auto w = session->parameter(0), b = session->parameter(1);
  float value = 0;
  std::memcpy(&value, b.data(), 4);
  EXPECT_EQ(value, 5 + 16 * 3);
  std::memcpy(&value, w.data() + 4, 4); // both stay readable
  EXPECT_EQ(value, 8);
  std::vector<std::byte> bytes(b.begin(), b.end());
  value = 77;
  std::memcpy(bytes.data(), &value, 4);
  EXPECT_RUNS(session->setParameter(1, bytes));
  std::memcpy(&value, session->parameter(1).data(), 4);
  EXPECT_EQ(value, 77);
  EXPECT_FALSE(session->setParameter(1, std::span(bytes).first(4)));
  EXPECT_FALSE(session->setParameter(9, bytes));
}

TEST_F(CudaSession, MultipliesWithTheMatrixLibrary) {
  auto session = sessionOf(sound());
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(uint64_t(1) << 32)); // w[k][n] = 4 k + n, b[n] = 16 + n
  for (int run = 0; run < 3; ++run) {
    fill(session->inputAs<float>("product", "x"), 0);
    EXPECT_RUNS(session->run("product"));
    auto y = session->outputAs<float>("product", "y");
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 4; ++n) {
        float sum = static_cast<float>(16 + n);
        for (int k = 0; k < 4; ++k)
          sum += static_cast<float>((4 * m + k) * (4 * k + n));
        EXPECT_EQ(y[static_cast<size_t>(4 * m + n)], sum);
      }
  }
}

TEST_F(CudaSession, AddsWhatLiesElsewhere) {
  ExecutableSpec spec = sound();
  MatmulSpec &product = *spec.program("product").steps[0].matmul;
  product.bias = {}, product.addend = at(Arena, 0, 64), product.ldAddend = 4;
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(uint64_t(1) << 32)); // w[k][n] = 4 k + n
  for (int run = 0; run < 3; ++run) {
    fill(session->inputAs<float>("product", "x"), 0);
    EXPECT_RUNS(session->run("product"));
    auto y = session->outputAs<float>("product", "y");
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 4; ++n) {
        auto sum = static_cast<float>(4 * m + n); // x itself
        for (int k = 0; k < 4; ++k)
          sum += static_cast<float>((4 * m + k) * (4 * k + n));
        EXPECT_EQ(y[static_cast<size_t>(4 * m + n)], sum);
      }
  }
}

TEST_F(CudaSession, RunsLoopsTileByTile) {
  for (bool sequential : {false, true}) {
    ExecutableSpec spec = onCuda(tiledExecutable(), image());
    spec.program("product").steps[0].loop->sequential = sequential;
    auto session = sessionOf(spec);
    ASSERT_TRUE(session);
    EXPECT_RUNS(session->initialize(1)); // w = 1 everywhere, b = 1
    for (int run = 0; run < 3; ++run) {
      fill(session->inputAs<float>("product", "x"), 0);
      EXPECT_RUNS(session->run("product"));
      auto y = session->outputAs<float>("product", "y");
      for (size_t row = 0; row < 4; ++row)
        for (size_t column = 0; column < 4; ++column)
          EXPECT_EQ(y[row * 4 + column], static_cast<float>(16 * row + 6 + 4 + 1)) << row;
    }
  }
}

TEST_F(CudaSession, SumsOverTiles) {
  ExecutableSpec spec = onCuda(tiledExecutable(), image());
  ProgramSpec &program = spec.program("product");
  LoopSpec &loop = *program.steps[0].loop;
  loop.sequential = true; // y = x^T x over tiles of 3 rows of 4
  MatmulSpec &product = *loop.steps[1].matmul;
  product.transposeA = true;
  product.a = at(Tile, 0, 48), product.b = at(Arena, 0, 64), product.bias = {};
  product.tileRows = false, product.tileSum = true;
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  for (int run = 0; run < 3; ++run) {
    fill(session->inputAs<float>("product", "x"), 0);
    EXPECT_RUNS(session->run("product"));
    auto y = session->outputAs<float>("product", "y");
    for (int m = 0; m < 4; ++m)
      for (int n = 0; n < 4; ++n) {
        float sum = 0;
        for (int k = 0; k < 4; ++k)
          sum += static_cast<float>((4 * k + m + 1) * (4 * k + n));
        EXPECT_EQ(y[static_cast<size_t>(4 * m + n)], sum) << m << " " << n;
      }
  }
}

TEST_F(CudaSession, ItsMemoryIsToldFromTheFile) {
  ExecutableSpec spec = onCuda(tiledExecutable(), image());
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(1));
  EXPECT_RUNS(session->run("product"));
  EXPECT_RUNS(session->run("update"));
  SessionUse use{.programs = {"setup", "init", "product", "update"}};
  EXPECT_EQ(session->allocatedBytes(), memoryOf(session->executable().format(), use).total());
  // Tables of a burst come to it, as many steps as they are made for.
  const std::string_view burst[] = {"product", "update"};
  auto steps = session->reserveSteps(burst, 5);
  ASSERT_TRUE(steps);
  EXPECT_EQ(*steps, 5);
  EXPECT_RUNS(session->start(burst, 2));
  EXPECT_RUNS(session->finish());
  use = {.programs = {"setup", "init"}, .burst = {"product", "update"}, .steps = 5};
  const SessionMemory told = memoryOf(session->executable().format(), use);
  EXPECT_EQ(told.steps, 5u);
  EXPECT_EQ(session->allocatedBytes(), told.total());
}

TEST_F(CudaSession, ARunWaitsForThoseOnTheirWay) {
  auto session = sessionOf(trainingExecutable(image()));
  ASSERT_TRUE(session);
  const std::string_view programs[] = {"train", "update"};
  EXPECT_RUNS(session->start(programs));
  fill(session->inputAs<float>("forward", "x"), 1);
  EXPECT_RUNS(session->run("forward"));
  EXPECT_EQ(session->outputAs<float>("forward", "y")[0], 2);
  EXPECT_FALSE(session->finish());
}

TEST_F(CudaSession, MeasuresRunsOfTheSameInputs) {
  auto measured = sessionOf(trainingExecutable(image())),
       run = sessionOf(trainingExecutable(image()));
  ASSERT_TRUE(measured && run);
  const std::string_view programs[] = {"train", "update"};
  for (Session *session : {measured.get(), run.get()})
    EXPECT_RUNS(session->initialize(3));
  fill(measured->inputAs<float>("train", "x"), 2);
  measured->inputAs<double>("update", "hyper")[0] = 0.25;
  auto seconds = measured->measure(programs, 4);
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_EQ(seconds->size(), 4u);
  for (double each : *seconds)
    EXPECT_GE(each, 0);
  for (int step = 0; step < 5; ++step) { // the first of them is not measured
    fill(run->inputAs<float>("train", "x"), 2);
    EXPECT_RUNS(run->run("train"));
    run->inputAs<double>("update", "hyper")[0] = 0.25;
    EXPECT_RUNS(run->run("update"));
  }
  auto a = measured->parameter(0), b = run->parameter(0);
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size()), 0);
  EXPECT_FALSE(measured->measure({}, 1));
  EXPECT_FALSE(measured->measure(programs, 1, 3)) << "no room was made";
  ASSERT_TRUE(measured->reserveSteps(programs, 3));
  for (int64_t step = 0; step < 3; ++step) {
    fill(measured->inputAs<float>("train", "x", 0, step), 2);
    measured->inputAs<double>("update", "hyper", 0, step)[0] = 0;
  }
  seconds = measured->measure(programs, 2, 3);
  ASSERT_TRUE(seconds) << seconds.error().message;
  EXPECT_EQ(seconds->size(), 2u);
}

TEST_F(CudaSession, MeasuresEveryStep) {
  auto session = sessionOf(onCuda(tiledExecutable(), image()));
  ASSERT_TRUE(session);
  auto times = session->profile("product");
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->size(), 1u);
  times = session->profile("forward");
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].op, "add");
  EXPECT_GE((*times)[1].seconds, 0);
}

TEST_F(CudaSession, FindsTheStepThatStopsBeingFinite) {
  ExecutableSpec spec = soundExecutable();
  auto x = at(Arena, 0, 64), y = at(Arena, 64, 64);
  ProgramSpec &program = spec.program("forward");
  program.outputs = {{"z", {16}, fb::DType::F32, x}};
  program.steps = {{"invert", 16, {x, y}, 0, {}, "div", "model.hyb:4:2"},
                   {"add_one", 16, {y, x}, 0, {}, "add", "model.hyb:5:2"}};
  auto session = sessionOf(onCuda(spec, image()));
  ASSERT_TRUE(session);
  auto input = session->inputAs<float>("forward", "x");
  std::fill(input.begin(), input.end(), 2.0f);
  EXPECT_EQ(session->findNonFinite("forward"), "");
  input[7] = 0;
  EXPECT_RUNS(session->run("forward"));
  EXPECT_EQ(session->findNonFinite("forward"), "div at model.hyb:4:2");

  spec = onCuda(tiledExecutable(), image());
  spec.program("product").steps[0].loop->steps[0].symbol = "invert";
  session = sessionOf(spec);
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->initialize(1));
  auto rows = session->inputAs<float>("product", "x");
  std::fill(rows.begin(), rows.end(), 1.0f);
  rows[13] = 0; // in the second tile
  EXPECT_RUNS(session->run("product"));
  EXPECT_EQ(session->findNonFinite("product"), "add at test.hyb:3:7");
}

TEST_F(CudaSession, SharedMemoryBeyond48Kilobytes) {
  ExecutableSpec spec = sound();
  ProgramSpec &program = spec.program("forward");
  program.steps = {{"large", 16, {at(Arena, 64, 64)}, 64 << 10}};
  program.steps[0].threads = 64;
  auto session = sessionOf(spec);
  ASSERT_TRUE(session);
  EXPECT_RUNS(session->run("forward"));
  EXPECT_EQ(session->outputAs<float>("forward", "y")[3], 3);
}

TEST_F(CudaSession, NamesTheStepThatFails) {
  ExecutableSpec spec = soundExecutable();
  spec.program("forward").steps[1].symbol = "diverges";
  spec.program("forward").steps[1].op = "gather",
  spec.program("forward").steps[1].location = "m.hyb:9:1";
  for (const char *sync : {"", "1"}) {
    setenv("HYBRID_CUDA_SYNC", sync, 1);
    auto session = sessionOf(onCuda(spec, image()));
    ASSERT_TRUE(session);
    auto done = session->run("forward");
    ASSERT_FALSE(done);
    EXPECT_CONTAINS(done.error().message, "program 'forward'");
    EXPECT_CONTAINS(done.error().message, "kernel 'diverges' (gather at m.hyb:9:1)");
    EXPECT_CONTAINS(done.error().message, "CUDA_ERROR");
  }
}

TEST_F(CudaSession, RefusesWhatTheDeviceDoesNotRun) {
  ExecutableSpec spec = sound();
  spec.images[0].architecture = "sm_90a";
  spec.images.push_back({"compute_90", {1, 2, 3}});
  std::string message = refusalOf(spec);
  EXPECT_CONTAINS(message, "compiled for sm_90a, compute_90, but the device");
  EXPECT_CONTAINS(message, "--target=cuda:shim");
  spec = sound();
  spec.images[0].bytes.assign(100, 7);
  EXPECT_CONTAINS(refusalOf(spec), "does not load on the device");
  spec = sound();
  spec.program("forward").steps[0].symbol = "no_such_kernel";
  EXPECT_CONTAINS(refusalOf(spec), "has no kernel 'no_such_kernel'");
}

TEST_F(CudaSession, SaysWhichDriverCodeNeeds) {
  ExecutableSpec spec = sound();
  spec.images[0].toolkit = spec.images[0].driver = 13000;
  EXPECT_TRUE(sessionOf(spec)); // the driver is of 13.0
  setenv("HYBRID_SHIM_CUDA", "12040", 1);
  std::string message = refusalOf(spec);
  EXPECT_CONTAINS(message, "its code for shim was made by the toolkit of CUDA 13.0 and needs a "
                           "driver of CUDA 13.0 (580 or later), but this one is of CUDA 12.4: "
                           "update the driver, or compile the model with an NVRTC of CUDA 12 "
                           "(HYBRID_NVRTC=FILE");
  // Machine code of another minor version loads.
  spec.images[0].toolkit = 12090, spec.images[0].driver = 12000;
  EXPECT_TRUE(sessionOf(spec));
  unsetenv("HYBRID_SHIM_CUDA");
}

TEST_F(CudaSession, RefusesGroupedProducts) {
  ExecutableSpec spec = sound();
  MatmulSpec &product = *spec.program("product").steps[0].matmul;
  product.bias = {};
  product.offsets = at(Arena, 128, 8);
  product.m = 1; // one group
  EXPECT_CONTAINS(refusalOf(spec), "known on the device only");
}

TEST_F(CudaSession, SaysHowMuchMemoryItWantedAndWhatFits) {
  ExecutableSpec spec = sound();
  spec.arenaBytes = uint64_t(1) << 39;
  std::string message = refusalOf(spec);
  EXPECT_CONTAINS(message, "512.00 GiB");
  EXPECT_CONTAINS(message, "the arena 512.00 GiB");
  EXPECT_CONTAINS(message, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_CONTAINS(message, "--memory ");
  EXPECT_CONTAINS(message, "are free");
}

TEST_F(CudaSession, SaysWhatToDoWithoutADriver) {
  setenv("HYBRID_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  EXPECT_CONTAINS(refusalOf(sound()), "/nonexistent/libcuda.so.1");
  setenv("HYBRID_CUDA_DRIVER", HYBRID_RUNTIME_IMAGE, 1);
  EXPECT_CONTAINS(refusalOf(sound()), "has no cuInit");
  setenv("HYBRID_CUDA_DRIVER", HYBRID_SHIM_DRIVER, 1);
  setenv("HYBRID_CUBLASLT", "/nonexistent/libcublasLt.so.13", 1);
  auto session = sessionOf(sound()); // not needed yet
  ASSERT_TRUE(session);
  auto done = session->run("product");
  ASSERT_FALSE(done);
  EXPECT_CONTAINS(done.error().message, "libcublasLt");
}

//===-- attention --------------------------------------------------------------===//

ExecutableSpec withAttention(ExecutableSpec spec) {
  spec.arenaBytes = std::max<uint64_t>(spec.arenaBytes, 320);
  spec.programs.insert(spec.programs.begin(), attentionProgram()); // in the order of names
  return spec;
}

TEST_F(CudaSession, AttentionIsTheLibrarys) {
  auto session = sessionOf(withAttention(sound()));
  ASSERT_TRUE(session);
  for (int run = 0; run < 3; ++run) { // one by one, captured, replayed
    for (const char *name : {"q", "k"}) {
      auto zeros = session->input("attend", name);
      ASSERT_EQ(zeros.size(), 64u);
      std::memset(zeros.data(), 0, zeros.size());
    }
    auto v = session->input("attend", "v");
    for (size_t i = 0; i < 32; ++i) { // row r holds r + run
      const auto bits = static_cast<uint16_t>(
          std::bit_cast<uint32_t>(static_cast<float>(i / 8 + static_cast<size_t>(run))) >> 16);
      std::memcpy(v.data() + 2 * i, &bits, 2);
    }
    EXPECT_RUNS(session->run("attend"));
    auto o = session->output("attend", "o");
    auto lse = session->outputAs<float>("attend", "lse");
    ASSERT_EQ(o.size(), 64u);
    ASSERT_EQ(lse.size(), 4u);
    for (size_t row = 0; row < 4; ++row) { // all keys count the same: the mean of 0 ... row
      uint16_t bits = 0;
      std::memcpy(&bits, o.data() + 16 * row, 2);
      EXPECT_EQ(std::bit_cast<float>(uint32_t(bits) << 16),
                static_cast<float>(row) / 2 + static_cast<float>(run));
      EXPECT_NEAR(lse[row], std::log(static_cast<float>(row + 1)), 1e-6);
    }
  }
  const SessionMemory told = memoryOf(session->executable().format(), {.programs = {"attend"}});
  EXPECT_EQ(told.attention, 256u);
}

//===-- transforms -------------------------------------------------------------===//

ExecutableSpec withTransform(ExecutableSpec spec) {
  spec.arenaBytes = std::max<uint64_t>(spec.arenaBytes, 128);
  auto behind = std::find_if(spec.programs.begin(), spec.programs.end(),
                             [](const ProgramSpec &p) { return p.name > "transform"; });
  spec.programs.insert(behind, transformProgram()); // in the order of names
  return spec;
}

TEST_F(CudaSession, TransformsAreTheLibrarys) {
  auto session = sessionOf(withTransform(sound()));
  ASSERT_TRUE(session);
  for (int run = 0; run < 3; ++run) { // one by one, captured, replayed
    auto x = session->inputAs<float>("transform", "x");
    ASSERT_EQ(x.size(), 12u);
    for (size_t t = 0; t < 6; ++t) { // a constant, and one that has only the last bin
      x[2 * t] = static_cast<float>(run + 1);
      x[2 * t + 1] = t % 2 ? -1.0f : 1.0f;
    }
    EXPECT_RUNS(session->run("transform"));
    auto spectrum = session->outputAs<float>("transform", "spectrum");
    ASSERT_EQ(spectrum.size(), 16u);
    for (size_t bin = 0; bin < 4; ++bin)
      for (size_t signal = 0; signal < 2; ++signal) {
        const double re = signal ? (bin == 3 ? 6 : 0) : (bin == 0 ? 6 * (run + 1) : 0);
        EXPECT_NEAR(spectrum[4 * bin + 2 * signal], re, 1e-5) << bin << " of " << signal;
        EXPECT_NEAR(spectrum[4 * bin + 2 * signal + 1], 0, 1e-5) << bin << " of " << signal;
      }
  }
  const SessionMemory told = memoryOf(session->executable().format(), {.programs = {"transform"}});
  EXPECT_EQ(told.transforms, 6u * 2 * 8);
}

TEST_F(CudaSession, SaysWhatToDoWithoutCufft) {
  setenv("HYBRID_CUFFT", "/nonexistent/libcufft.so.12", 1);
  std::string message = refusalOf(withTransform(sound()));
  EXPECT_CONTAINS(message, "transform of 6 points, 2 of them (rfft at test.hyb:6:3)");
  EXPECT_CONTAINS(message, "/nonexistent/libcufft.so.12");
  EXPECT_CONTAINS(message, "--transforms=own");
  setenv("HYBRID_CUFFT", HYBRID_RUNTIME_IMAGE, 1);
  EXPECT_CONTAINS(refusalOf(withTransform(sound())), "has no cufft");
  EXPECT_TRUE(sessionOf(sound())) << "only what needs it";
}

TEST_F(CudaSession, SaysWhatToDoWithoutCudnn) {
  setenv("HYBRID_CUDNN", "/nonexistent/libcudnn.so.9", 1);
  std::string message = refusalOf(withAttention(sound()));
  EXPECT_CONTAINS(message, "attention of 1 x 4 queries, 1 heads of 8 (attention at test.hyb:5:3)");
  EXPECT_CONTAINS(message, "/nonexistent/libcudnn.so.9");
  EXPECT_CONTAINS(message, "--attention=own");
  EXPECT_TRUE(sessionOf(sound())) << "only what needs it";
}

} // namespace
