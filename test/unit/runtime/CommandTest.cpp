//===- CommandTest.cpp - hybrid-run as a user calls it -----------------------===//
#include "executable/KeyFile.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include "test/unit/runtime/TestExecutable.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace hybrid;
using namespace hybrid::rt;
using namespace hybrid::rt::test;
using enum fb::Space;

namespace {

struct Outcome {
  int status;
  std::string out, error;
};

class Command : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "hybrid-command-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    setenv("XDG_CONFIG_HOME", path("config").c_str(), 1);
    setenv("XDG_CACHE_HOME", path("cache").c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return folder + "/" + name; }
  std::string read(const std::string &name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Runs hybrid-run; arguments are words for the shell.
  Outcome run(const std::string &arguments) const {
    std::string command = "cd '" + folder + "' && '" HYBRID_RUN "' " + arguments +
                          " >stdout.txt 2>stderr.txt </dev/null";
    int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("stdout.txt"), read("stderr.txt")};
  }
  /// As this user's hybridc does, or another one's.
  void writeExecutable(const std::string &name, const ExecutableSpec &spec,
                       bool isOurs = true) const {
    std::vector<std::byte> bytes = spec.bytes();
    std::string fault;
    const auto key = signingKey(fault);
    ASSERT_TRUE(key) << fault;
    const auto seal = makeSeal(bytes, isOurs ? *key : Key{1});
    bytes.insert(bytes.end(), seal.begin(), seal.end());
    ASSERT_TRUE(writeFileAtomically(path(name),
                                    {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  }
  void writeParameters(const std::string &name, std::vector<SafetensorsTensor> tensors) const {
    ASSERT_TRUE(writeSafetensors(path(name), tensors, {}));
  }
  std::vector<float> values(const std::string &name) const {
    auto array = readNpy(path(name));
    if (!array || array->element != NpyArray::Element::F32) {
      ADD_FAILURE() << (array ? "not f32" : array.error().message);
      return {};
    }
    std::vector<float> numbers(array->data.size() / 4);
    std::memcpy(numbers.data(), array->data.data(), array->data.size());
    return numbers;
  }
  std::string folder;
};

/// `forward` is y = x w + b, and `vjp` gives dx = dy (for the test) and dw = x^T dy.
ExecutableSpec linearExecutable() {
  ExecutableSpec spec = soundExecutable();
  ProgramSpec forward = spec.program("product");
  forward.name = "forward";
  ProgramSpec vjp = forward;
  vjp.name = "vjp";
  auto cotangent = at(Arena, 128, 64), x = at(Arena, 0, 64);
  vjp.inputs.push_back({"cotangent.y", {4, 4}, fb::DType::F32, cotangent});
  vjp.outputs.push_back({"grad.x", {4, 4}, fb::DType::F32, at(Arena, 192, 64)});
  vjp.steps.push_back({"copy", 16, {cotangent, at(Arena, 192, 64)}});
  MatmulSpec gradient{.m = 4, .n = 4, .k = 4, .lda = 4, .ldb = 4, .ldc = 4, .transposeA = true};
  gradient.a = x;
  gradient.b = cotangent;
  gradient.c = at(Gradients, 0, 64);
  StepSpec step;
  step.matmul = gradient;
  vjp.steps.push_back(step);
  spec.programs = {forward, spec.program("init"), spec.program("setup"), vjp};
  return spec;
}

const std::string sixteen = "4x4xf32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16";

} // namespace

TEST_F(Command, ExitStatusTellsUsageFromError) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("no-such-verb").status, 2);
  EXPECT_EQ(run("info --no-such-flag x.hyx").status, 2);
  EXPECT_EQ(run("--help").status, 0);
  Outcome version = run("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.find("hybrid-run "), 0u) << version.out;
  Outcome missing = run("info missing.hyx");
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.error, "error: cannot read 'missing.hyx': No such file or directory\n");
  EXPECT_EQ(missing.out, "");
}

TEST_F(Command, InfoShowsAnExecutable) {
  writeExecutable("m.hyx", soundExecutable());
  Outcome text = run("info m.hyx --steps");
  EXPECT_EQ(text.status, 0) << text.error;
  EXPECT_NE(text.out.find("forward"), std::string::npos);
  Outcome json = run("info m.hyx --json --steps");
  ASSERT_EQ(json.status, 0) << json.error;
  auto info = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_TRUE(info.is_object()) << json.out;
  EXPECT_EQ(info["parameter_count"], 20);
  EXPECT_EQ(info["programs"].size(), 5u);
  EXPECT_EQ(run("info m.hyx --source").out, "model test() {}");
}

TEST_F(Command, InfoRefusesDamagedFiles) {
  ExecutableSpec spec = soundExecutable();
  spec.codeHash = 1;
  writeExecutable("m.hyx", spec);
  for (const char *name : {"m.hyx", "x.npy", "x.safetensors"}) {
    if (!std::filesystem::exists(path(name)))
      std::ofstream(path(name)) << "nonsense that is long enough to be looked at";
    Outcome outcome = run(std::string("info ") + name);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.error.find(std::string("error: ") + name + ": "), 0u) << outcome.error;
  }
}

TEST_F(Command, ForwardWritesOutputsAndGradients) {
  writeExecutable("m.hyx", linearExecutable());
  std::vector<double> w(16);
  for (int i = 0; i < 4; ++i)
    w[static_cast<size_t>(5 * i)] = 2; // twice the identity, in f64 on purpose
  std::vector<float> b = {1, 1, 1, 1};
  writeParameters("p.safetensors", {{"w", DType::F64, {4, 4}, std::as_bytes(std::span(w))},
                                    {"b", DType::F32, {4}, std::as_bytes(std::span(b))}});
  Outcome outcome =
      run("forward m.hyx --params p.safetensors --input x=" + sixteen + " --out plain");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  std::vector<float> y = values("plain/output.y.npy");
  ASSERT_EQ(y.size(), 16u);
  for (size_t i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], static_cast<float>(2 * (i + 1) + 1));
  EXPECT_FALSE(std::filesystem::exists(path("plain/grad.w.npy")));

  std::vector<float> ones(16, 1);
  ASSERT_TRUE(writeNpy(path("dy.npy"), DType::F32, std::vector<int64_t>{4, 4},
                       std::as_bytes(std::span(ones))));
  outcome = run("forward m.hyx --params p.safetensors --input x=" + sixteen +
                " --cotangent y=dy.npy --out vjp");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(values("vjp/grad.x.npy"), ones);
  std::vector<float> dw = values("vjp/grad.w.npy");
  ASSERT_EQ(dw.size(), 16u);
  EXPECT_EQ(dw[0], 1 + 5 + 9 + 13);
  EXPECT_EQ(dw[15], 4 + 8 + 12 + 16);
}

TEST_F(Command, ForwardSaysWhatDoesNotFit) {
  writeExecutable("m.hyx", linearExecutable());
  std::vector<float> w(16), b(4);
  writeParameters("p.safetensors", {{"w", DType::F32, {16}, std::as_bytes(std::span(w))},
                                    {"bb", DType::F32, {4}, std::as_bytes(std::span(b))}});
  const std::pair<std::string, std::vector<const char *>> cases[] = {
      {"--params p.safetensors --input x=" + sixteen,
       {"'bb' is no parameter of the model; did you mean 'b'?", "'w' is [16]", "[4, 4]",
        "'b' [4] is missing"}},
      {"--input x=" + sixteen, {"--params FILE.safetensors or --init-seed N"}},
      {"--init-seed 1 --input x=2x2xf32=1,2,3,4", {"[2, 2]", "[4, 4]"}},
      {"--init-seed 1 --input z=" + sixteen, {"no input 'z'", "it has x"}},
      {"--init-seed 1", {"input 'x' [4, 4] is not given"}},
      {"--init-seed 1 --input x=missing.npy", {"cannot read 'missing.npy'"}},
      {"--init-seed 1 --input x=4x4xf32=1,two", {"'two' is not a number"}},
      {"--init-seed 1 --input x=" + sixteen + " --cotangent q=" + sixteen, {"no output 'q'"}}};
  for (const auto &[arguments, texts] : cases) {
    Outcome outcome = run("forward m.hyx --out out " + arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(outcome.error.find("error: "), 0u) << outcome.error;
    for (const char *text : texts)
      EXPECT_NE(outcome.error.find(text), std::string::npos) << outcome.error;
    EXPECT_FALSE(std::filesystem::exists(path("out"))) << "half a result: " << arguments;
  }
}

TEST_F(Command, BenchMeasures) {
  writeExecutable("m.hyx", linearExecutable());
  Outcome outcome = run("bench m.hyx --program=forward --steps 3 --json --profile");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  auto result = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << outcome.out;
  EXPECT_EQ(result["steps"], 3);
  EXPECT_TRUE(result["ms_per_step"].is_number());
  EXPECT_EQ(run("bench m.hyx --program=train").status, 1);
}

TEST_F(Command, DoctorDescribesTheMachine) {
  Outcome outcome = run("doctor --json");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  auto result = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(result.is_object()) << outcome.out;
  EXPECT_GE(result["threads"], 1);
  EXPECT_TRUE(result["cuda"]["devices"].is_array()) << outcome.out;
  EXPECT_EQ(run("doctor").status, 0);
}

TEST_F(Command, SelftestComparesCarriedCases) {
  for (const char *name : {"cases/good", "cases/wrong"})
    std::filesystem::create_directories(path(name));
  writeExecutable("cases/good/model.hyx", linearExecutable());
  writeExecutable("cases/wrong/model.hyx", linearExecutable());
  std::vector<float> w(16, 1), b(4, 2), x(16, 1), y(16, 6), dw(8, 4);
  const std::vector<int64_t> square = {4, 4}, half = {2, 4};
  for (const std::string name : {"cases/good/", "cases/wrong/"}) {
    writeParameters(name + "p.safetensors", {{"w", DType::F32, square, std::as_bytes(std::span(w))},
                                             {"b", DType::F32, {4}, std::as_bytes(std::span(b))}});
    ASSERT_TRUE(writeNpy(path(name + "x.npy"), DType::F32, square, std::as_bytes(std::span(x))));
    ASSERT_TRUE(writeNpy(path(name + "dw.npy"), DType::F32, half, std::as_bytes(std::span(dw))));
    ASSERT_TRUE(writeNpy(path(name + "y.npy"), DType::F32, square, std::as_bytes(std::span(y))));
    std::ofstream(path(name + "case.json"))
        << R"({"executable": "model.hyx", "parameters": "p.safetensors", "inputs": {"x": "x.npy"},
               "cotangents": {"y": "x.npy"}, "expected": [
               {"tensor": "output.y", "file": "y.npy", "tolerance": 1e-5, "size": 24},
               {"tensor": "grad.w", "rows": [2, 4], "file": "dw.npy", "tolerance": 1e-5, "size": 9}]})";
    y[5] = 7;
  }
  Outcome outcome = run("selftest --cases cases");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("pass  good"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("FAIL  wrong\n      'output.y': relative error 4.17e-02"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("selftest: 1 passed, 1 failed"), std::string::npos) << outcome.out;
  EXPECT_EQ(run("selftest --cases cases --case good --device cpu").status, 0);
  outcome = run("selftest --cases cases --case good --device cuda");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("compiled for the device 'cpu'"), std::string::npos) << outcome.out;
  EXPECT_EQ(run("selftest --cases nothing").status, 1);
  EXPECT_EQ(run("selftest --cases cases --case other").status, 1);
}

TEST_F(Command, TheDeviceIsWhatWasAskedFor) {
  writeExecutable("c.hyx", linearExecutable());
  EXPECT_EQ(run("bench c.hyx --program=forward --steps 1 --device cpu").status, 0);
  Outcome outcome = run("bench c.hyx --program=forward --steps 1 --device cuda");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.error.find("--target=cuda"), std::string::npos) << outcome.error;
  writeExecutable("g.hyx", onCuda(linearExecutable(), {1, 2, 3}));
  setenv("HYBRID_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  outcome = run("bench g.hyx --program=forward --steps 1");
  EXPECT_EQ(outcome.status, 1); // and not on the CPU instead
  EXPECT_NE(outcome.error.find("/nonexistent/libcuda.so.1"), std::string::npos) << outcome.error;
  outcome = run("doctor");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("CUDA         not here"), std::string::npos) << outcome.out;
  unsetenv("HYBRID_CUDA_DRIVER");
  outcome = run("info g.hyx");
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("shim (3 bytes)"), std::string::npos) << outcome.out;
}

TEST_F(Command, ASourceNeedsTheCompiler) {
  std::ofstream(path("m.hyb")) << "this is no model";
  Outcome outcome = run("info m.hyx");
  EXPECT_EQ(outcome.status, 1);
  // Without hybridc beside hybrid-run the message says so; with it, hybridc has explained the
  // fault.
  outcome = run("bench m.hyb");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.error.find("error: "), std::string::npos) << outcome.error;
  writeExecutable("c.hyx", linearExecutable());
  outcome = run("bench c.hyx --program=forward --batch 3");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.error.find("compiled already"), std::string::npos) << outcome.error;
}

TEST_F(Command, ForeignCodeIsNotRunUnlessItIsTrusted) {
  const std::string forward = "forward m.hyx --init-seed 1 --out out --input x=" + sixteen;
  writeExecutable("m.hyx", linearExecutable(), /*isOurs=*/false);
  Outcome outcome = run(forward);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(
      outcome.error.find("m.hyx: its machine code is not run: this user's hybridc did not make "
                         "it; compile the model here, or say --trust once"),
      std::string::npos)
      << outcome.error;
  EXPECT_EQ(run("info m.hyx").status, 0);
  outcome = run(forward + " --trust");
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  outcome = run(forward); // once is enough
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  // Of one file, not of its maker.
  ExecutableSpec other = linearExecutable();
  other.cpu = "other";
  writeExecutable("m.hyx", other, /*isOurs=*/false);
  EXPECT_EQ(run(forward).status, 1);
}

TEST_F(Command, FlippedBitsAreToldBeforeAnythingElse) {
  writeExecutable("m.hyx", linearExecutable());
  const std::string whole = read("m.hyx");
  for (size_t at = 16; at < whole.size(); at += whole.size() / 97) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    ASSERT_TRUE(writeFileAtomically(path("m.hyx"), damaged));
    auto loaded = Executable::load(path("m.hyx"));
    ASSERT_FALSE(loaded) << at;
    EXPECT_NE(loaded.error().message.find("damaged"), std::string::npos) << loaded.error().message;
  }
}

TEST_F(Command, NothingIsMappedBeforeItIsTrusted) {
  auto constructor = readFile(HYBRID_TEST_CONSTRUCTOR, 1 << 20);
  ASSERT_TRUE(constructor);
  ExecutableSpec spec = linearExecutable();
  const auto *code = reinterpret_cast<const uint8_t *>(constructor->data());
  spec.code.assign(code, code + constructor->size());
  writeExecutable("m.hyx", spec, /*isOurs=*/false);
  setenv("HYBRID_TEST_MARK", path("mark").c_str(), 1);
  const std::string forward = "forward m.hyx --init-seed 1 --out out --input x=" + sixteen;
  for (const std::string &command :
       {std::string("info m.hyx --steps"), forward, std::string("bench m.hyx --program=forward")}) {
    run(command);
    EXPECT_FALSE(std::filesystem::exists(path("mark"))) << command;
  }
  run(forward + " --trust");
  EXPECT_TRUE(std::filesystem::exists(path("mark"))); // that the test would have seen it
  unsetenv("HYBRID_TEST_MARK");
}

TEST_F(Command, AKeyOfOthersIsNotUsed) {
  writeExecutable("m.hyx", linearExecutable());
  const std::string key = path("config/hybrid/key"),
                    forward = "forward m.hyx --init-seed 1 --out out --input x=" + sixteen;
  EXPECT_EQ(std::filesystem::status(key).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(run(forward).status, 0);
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  Outcome outcome = run(forward);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.error.find("others than its owner may use"), std::string::npos)
      << outcome.error;
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  ASSERT_TRUE(writeFileAtomically(key, "no key"));
  std::filesystem::permissions(key, std::filesystem::perms(0600));
  EXPECT_NE(run(forward).error.find("expected 64 hexadecimal digits"), std::string::npos);
}

TEST_F(Command, ProcessesAtOnceMakeOneKey) {
  std::vector<std::thread> threads;
  std::vector<std::optional<Key>> keys(8);
  for (std::optional<Key> &key : keys)
    threads.emplace_back([&key] {
      std::string fault;
      key = signingKey(fault);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::optional<Key> &key : keys) {
    ASSERT_TRUE(key);
    EXPECT_EQ(*key, *keys[0]);
  }
}
