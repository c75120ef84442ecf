//===- Benchmark.cpp - how long a program takes -----------------------------------===//
#include "laboratory/machine/Benchmark.h"
#include "executable/Spaces.h"
#include "runtime/Decoder.h"
#include "runtime/InputIds.h"
#include "runtime/Session.h"
#include "runtime/cpu/Team.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <sys/resource.h>

namespace hybrid::rt::lab {
namespace {

/// Numbers are a gentle wave. Ids are drawn: what routed experts cost depends on how
/// even they are.
void fillInputs(Session &session, const ProgramInfo &program, int64_t replica, int64_t step) {
  std::mt19937 random(1);
  for (const TensorInfo &input : program.inputs) {
    std::span<std::byte> bytes = session.input(program.name, input.name, replica, step);
    std::memset(bytes.data(), 0, bytes.size());
    if (program.name == "update") { // a plausible optimizer step
      double hyper[8] = {1e-4, 0.1, 0.9, 0.98, 1e-8, 1.0, 0.1, 0.02};
      std::memcpy(bytes.data(), hyper, std::min(sizeof(hyper), bytes.size()));
    } else if (input.dtype == DType::F32) {
      auto values = session.inputAs<float>(program.name, input.name, replica, step);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i % 17) * 0.1f - 0.8f;
    } else if (auto known = idsOf(session.executable(), program.name, input.name)) {
      std::uniform_int_distribution<int32_t> ids(
          0, static_cast<int32_t>(std::min<int64_t>(known->below, INT32_MAX) - 1));
      for (int32_t &id : session.inputAs<int32_t>(program.name, input.name, replica, step))
        id = ids(random);
    }
  }
}

void fillInputs(Session &session, const ProgramInfo &program, int64_t steps = 1) {
  for (int64_t replica = 0; replica < session.replicas(); ++replica)
    for (int64_t step = 0; step < steps; ++step)
      fillInputs(session, program, replica, step);
}

struct Times {
  std::vector<double> milliseconds;
  double cpuMilliseconds = 0; // of all threads, in all steps; 0 where a device computes
};

/// Of each step, in which the programs run one after another.
Result<Times> timesOf(Session &session, const std::vector<std::string> &names,
                      const BenchmarkOptions &options) {
  Times times;
  std::vector<double> &milliseconds = times.milliseconds;
  auto fill = [&](const std::string &name) {
    fillInputs(session, *session.executable().findProgram(name), options.burst);
  };
  if (session.isAsynchronous()) { // as training does it: one unit of work; by the device's clock
    std::vector<std::string_view> programs(names.begin(), names.end());
    auto reserved = session.reserveSteps(programs, options.burst);
    if (!reserved)
      return reserved.error();
    if (*reserved < options.burst)
      return Error{fmt::format("bursts of {} steps are too large for this model", options.burst)};
    std::for_each(names.begin(), names.end(), fill);
    auto runs = static_cast<size_t>(options.warmup + options.steps);
    auto measured = session.measure(programs, runs, options.burst);
    if (!measured)
      return measured.error();
    for (double seconds : *measured)
      milliseconds.push_back(seconds * 1e3 / options.burst);
    milliseconds.erase(milliseconds.begin(), milliseconds.begin() + options.warmup);
    return times;
  }
  if (options.burst > 1)
    return Error{"--burst is for models on a GPU: elsewhere a burst is one step"};
  for (int i = 0; i < options.warmup + options.steps; ++i) {
    double total = 0;
    for (const std::string &name : names) {
      fill(name); // programs share one arena
      const std::clock_t cpu = std::clock();
      auto start = std::chrono::steady_clock::now();
      if (auto done = session.run(name); !done)
        return done.error();
      if (i >= options.warmup)
        times.cpuMilliseconds += 1e3 * static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
      total += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                   .count();
    }
    if (i >= options.warmup)
      milliseconds.push_back(total);
  }
  return times;
}

/// The time of each kind of op.
Result<nlohmann::ordered_json> profileOf(Session &session, const std::vector<std::string> &names) {
  std::map<std::string, std::pair<int, double>> byOp;
  for (const std::string &name : names) {
    fillInputs(session, *session.executable().findProgram(name));
    auto times = session.profile(name);
    if (!times)
      return times.error();
    for (const Session::StepTime &time : *times) {
      byOp[time.op].first += 1;
      byOp[time.op].second += time.seconds * 1e3;
    }
  }
  std::vector<std::pair<std::string, std::pair<int, double>>> sorted(byOp.begin(), byOp.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return a.second.second > b.second.second; });
  auto profile = nlohmann::ordered_json::array();
  for (const auto &[op, time] : sorted)
    profile.push_back({{"op", op}, {"steps", time.first}, {"ms", time.second}});
  return profile;
}

void printProfile(const nlohmann::ordered_json &result) {
  if (result.contains("profile"))
    for (const auto &entry : result["profile"])
      say("  {:9.3f} ms {:5} x  {}\n", entry["ms"].get<double>(), entry["steps"].get<int>(),
          entry["op"].get<std::string>());
}

/// Parameters, and what was prepared of them, that every run of the program reads; of a table that
/// is looked up by ids, a row is. In bytes.
size_t weightBytesOf(const Executable &executable, const std::string &name) {
  std::set<std::pair<uint64_t, uint64_t>> read; // where they lie, and how long they are
  std::function<void(const fb::Step &)> visit = [&](const fb::Step &step) {
    if (const auto *loop = step.operation_as_TileLoop(); loop && loop->steps())
      for (const fb::Step *inner : *loop->steps())
        visit(*inner);
    const bool looksUp = step.op() && step.op()->string_view().starts_with("embedding");
    if (step.operation_as_TileLoop() || looksUp)
      return;
    for (const fb::BufferRef &buffer : buffersOf(step))
      if (buffer.space() == fb::Space::Parameters)
        read.emplace(buffer.offset(), buffer.bytes());
  };
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == name)
      for (const fb::Step *step : *program->steps())
        visit(*step);
  for (const ParameterInfo &state : executable.states())
    if (state.name.starts_with("state:"))
      std::erase_if(read, [&](const auto &range) { return range.first == state.offset; });
  return std::transform_reduce(read.begin(), read.end(), size_t(0), std::plus(),
                               [](const auto &range) { return range.second; });
}

/// How fast threads read memory: they add up the numbers of as much as a token reads.
class MemoryReading {
public:
  MemoryReading(size_t bytes, int threads)
      : words(bytes / sizeof(uint64_t), 1), threads(threads), sums(static_cast<size_t>(threads)) {}

  double milliseconds() {
    const auto start = std::chrono::steady_clock::now();
    constexpr int64_t part = 1 << 15;
    const auto count = static_cast<int64_t>(words.size());
    parallelFor((count + part - 1) / part, threads, [&](int64_t lo, int64_t hi, int thread) {
      sums[static_cast<size_t>(thread)] += std::accumulate(
          words.begin() + lo * part, words.begin() + std::min(count, hi * part), uint64_t(0));
    });
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }
  /// So that nobody may leave the reading out.
  uint64_t sum() const { return std::accumulate(sums.begin(), sums.end(), uint64_t(0)); }

private:
  std::vector<uint64_t> words;
  int threads;
  std::vector<uint64_t> sums;
};

double medianOf(std::span<const double> of) {
  std::vector<double> values(of.begin(), of.end());
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

Result<std::unique_ptr<Session>> openInitialized(const ModelSpec &model, int threads) {
  auto executable = model.load();
  if (!executable)
    return executable.error();
  auto session = Session::create(*executable, {threads, false});
  if (!session)
    return session;
  if (auto done = (*session)->initialize(1); !done)
    return done.error();
  return session;
}

/// Token after token, from the start of a sequence.
Result<void> benchmarkDecoding(const BenchmarkOptions &options) {
  ModelSpec model = options.model;
  if (model.isSource()) {
    model.decode = true;
    model.batch = model.batch.value_or(1);
    model.length = model.length.value_or(options.tokens);
  }
  auto session = openInitialized(model, options.threads);
  if (!session)
    return session.error();
  auto decoder = Decoder::create(**session);
  if (!decoder)
    return decoder.error();
  std::vector<int32_t> tokens(static_cast<size_t>(decoder->rows()));
  std::vector<double> logits(static_cast<size_t>(decoder->vocabulary())), milliseconds;
  // The two take turns, so that both meet the same neighbours.
  const size_t weightBytes = weightBytesOf((*session)->executable(), "step");
  MemoryReading reading(options.readRate ? weightBytes : 0, (*session)->threads());
  std::vector<double> readMilliseconds;
  constexpr int64_t tokensAReading = 10;
  std::mt19937 random(1);
  for (int64_t i = 0; i < options.tokens; ++i) {
    if (options.readRate && i % tokensAReading == 0)
      readMilliseconds.push_back(reading.milliseconds());
    for (int32_t &token : tokens)
      token = static_cast<int32_t>(random() % static_cast<uint32_t>(decoder->vocabulary()));
    const auto start = std::chrono::steady_clock::now();
    if (auto done = decoder->take(tokens); !done)
      return done;
    if (auto done = decoder->logits(0, logits); !done) // who decodes reads them
      return done;
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
            .count());
  }
  constexpr int64_t part = 100;
  auto mean = [](auto begin, auto end) {
    return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  };
  const std::span<const double> all = milliseconds;
  nlohmann::ordered_json result{
      {"program", "step"},
      {"tokens", options.tokens},
      {"rows", decoder->rows()},
      {"threads", (*session)->threads()},
      {"ms_per_token", mean(milliseconds.begin(), milliseconds.end())},
      {"ms_per_token_first_100", mean(milliseconds.begin(), milliseconds.begin() + part)},
      {"ms_per_token_last_100", mean(milliseconds.end() - part, milliseconds.end())},
      {"ms_per_token_median", medianOf(all)}, // which neighbours on the machine hardly change
      {"ms_per_token_median_first_100", medianOf(all.first(part))},
      {"ms_per_token_median_last_100", medianOf(all.last(part))},
      {"weight_bytes", weightBytes},
      {"allocated_bytes", (*session)->allocatedBytes()}};
  if (options.readRate) {
    const double token = medianOf(all), read = medianOf(readMilliseconds);
    result["ms_to_read_weights"] = read;
    result["read_bytes_per_second"] = 1e3 * static_cast<double>(weightBytes) / read;
    result["share_of_read_rate"] = read / token;
    result["words_read"] = reading.sum();
  }
  if (options.profile) {
    auto profile = profileOf(**session, {"step"});
    if (!profile)
      return profile.error();
    result["profile"] = std::move(*profile);
  }
  if (options.json) {
    say("{}\n", jsonText(result));
    return {};
  }
  say("step: {:.3f} ms a token ({:.3f} the first {}, {:.3f} the last {} of {}), {} threads\n",
      result["ms_per_token"].get<double>(), result["ms_per_token_first_100"].get<double>(), part,
      result["ms_per_token_last_100"].get<double>(), part, options.tokens, (*session)->threads());
  if (options.readRate)
    say("  {:.1f} MB of weights a token, which are read in {:.3f} ms: {:.0f} % of that rate\n",
        static_cast<double>(weightBytes) / 1e6, result["ms_to_read_weights"].get<double>(),
        100 * result["share_of_read_rate"].get<double>());
  printProfile(result);
  return {};
}

/// A prompt as decoding reads it, and the whole sequence by `forward`, in turns.
Result<void> benchmarkPrompt(const BenchmarkOptions &options) {
  if (!options.model.isSource())
    return Error{
        fmt::format("{} is compiled: a prompt is set beside program 'forward', so give the "
                    "model's text (.hyb), which is compiled for both",
                    options.model.path)};
  ModelSpec model = options.model;
  model.batch = model.batch.value_or(1);
  model.length = model.length.value_or(options.tokens);
  std::unique_ptr<Session> sessions[2];
  for (bool decodes : {false, true}) {
    model.decode = decodes;
    auto session = openInitialized(model, options.threads);
    if (!session)
      return session.error();
    sessions[decodes ? 1 : 0] = std::move(*session);
  }
  auto decoder = Decoder::create(*sessions[1]);
  if (!decoder)
    return decoder.error();
  Session &whole = *sessions[0];
  const ProgramInfo *forward = whole.executable().findProgram("forward");
  if (!forward)
    return Error{fmt::format("{} has no program 'forward'", whole.executable().name())};
  std::vector<int32_t> tokens(static_cast<size_t>(*model.length * decoder->rows()));
  std::mt19937 random(1);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % static_cast<uint32_t>(decoder->vocabulary()));
  std::vector<double> prompts, forwards;
  auto time = [&](std::vector<double> &into, int i, auto &&run) -> Result<void> {
    const auto start = std::chrono::steady_clock::now();
    if (Result<void> done = run(); !done)
      return done;
    if (i >= options.warmup)
      into.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count());
    return {};
  };
  for (int i = 0; i < options.warmup + options.steps; ++i) {
    if (auto done = decoder->rewind(); !done)
      return done;
    if (auto done = time(prompts, i, [&] { return decoder->take(tokens); }); !done)
      return done;
    fillInputs(whole, *forward);
    if (auto done = time(forwards, i, [&] { return whole.run("forward"); }); !done)
      return done;
  }
  const double prompt = medianOf(prompts), all = medianOf(forwards);
  const nlohmann::ordered_json result{
      {"program", "prefill"},   {"tokens", *model.length},         {"rows", decoder->rows()},
      {"steps", options.steps}, {"threads", whole.threads()},      {"ms_per_prompt", prompt},
      {"ms_forward", all},      {"share_of_forward", all / prompt}};
  if (options.json)
    say("{}\n", jsonText(result));
  else
    say("prefill: {:.2f} ms for {} tokens (median of {}), {:.0f} % of the speed of forward ({:.2f} "
        "ms), {} threads\n",
        prompt, *model.length, options.steps, 100 * all / prompt, all, whole.threads());
  return {};
}

} // namespace

Result<void> benchmark(const BenchmarkOptions &options) {
  if (options.program == "step")
    return benchmarkDecoding(options);
  if (options.program == "prefill")
    return benchmarkPrompt(options);
  auto executable = options.model.load();
  if (!executable)
    return executable.error();
  const bool trains =
      options.program == "train" || options.program == "vjp" || options.program == "update";
  auto session = Session::create(*executable, {options.threads, trains});
  if (!session)
    return session.error();
  if (auto done = (*session)->initialize(1); !done)
    return done;
  std::vector<std::string> names{options.program};
  // A training step is the gradient and the update.
  if (options.program == "train")
    names.push_back("update");
  for (const std::string &name : names)
    if (!(*executable)->findProgram(name))
      return Error{fmt::format("{} has no program '{}'", (*executable)->name(), name)};
  auto times = timesOf(**session, names, options);
  if (!times)
    return times.error();
  std::vector<double> &milliseconds = times->milliseconds;
  std::sort(milliseconds.begin(), milliseconds.end());
  double median = milliseconds[milliseconds.size() / 2];
  struct rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json result{{"program", options.program},
                                {"steps", options.steps},
                                {"threads", (*session)->threads()},
                                {"replicas", (*session)->replicas()},
                                {"burst", options.burst},
                                {"ms_per_step", median},
                                {"ms_min", milliseconds.front()},
                                {"ms_max", milliseconds.back()},
                                {"cpu_ms_per_step", times->cpuMilliseconds / options.steps},
                                {"allocated_bytes", (*session)->allocatedBytes()},
                                {"peak_bytes", static_cast<int64_t>(usage.ru_maxrss) * 1024}};
  if (options.profile) {
    auto profile = profileOf(**session, names);
    if (!profile)
      return profile.error();
    result["profile"] = std::move(*profile);
  }
  if (options.json) {
    say("{}\n", jsonText(result));
    return {};
  }
  std::string ensemble =
      (*session)->replicas() == 1 ? "" : fmt::format(" of {} replicas", (*session)->replicas());
  say("{}: {:.2f} ms a step{} (median of {}, {:.2f} to {:.2f}), {} threads, {:.1f} MB\n",
      options.program, median, ensemble, options.steps, milliseconds.front(), milliseconds.back(),
      (*session)->threads(), static_cast<double>((*session)->allocatedBytes()) / 1e6);
  printProfile(result);
  return {};
}

} // namespace hybrid::rt::lab
