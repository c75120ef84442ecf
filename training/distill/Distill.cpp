//===- Distill.cpp - free filters become recurrences ---------------------------===//
#include "training/distill/Distill.h"
#include "executable/Spaces.h"
#include "runtime/Decoder.h"
#include "runtime/cpu/Team.h"
#include "runtime/files/AtomicFile.h"
#include "runtime/files/File.h"
#include "runtime/files/Json.h"
#include "runtime/files/Print.h"
#include "runtime/files/Safetensors.h"
#include "training/CheckpointTokenizer.h"
#include "training/NextToken.h"
#include "training/ParameterFile.h"
#include "training/TensorHashes.h"
#include "training/compile/Process.h"
#include "training/distill/ModalFit.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace hybrid::rt {
namespace {

using distill::Mode;

/// The taps of some channels, those of a channel side by side.
struct Filter {
  int64_t taps = 0, channels = 0;
  std::vector<double> values;

  std::span<const double> channel(int64_t c) const {
    return std::span(values).subspan(static_cast<size_t>(c * taps), static_cast<size_t>(taps));
  }
};

/// What the long convolutions of `prefill` read of the parameters or of what was prepared of them,
/// in the order of the model. Modal filters are not among it: their recurrences read no filter.
Result<std::vector<Filter>> freeFilters(Session &session) {
  const Executable &executable = session.executable();
  std::vector<Filter> filters;
  std::vector<uint64_t> seen;
  auto add = [&](const ParameterInfo &tensor, std::span<const std::byte> data) -> Result<void> {
    if (tensor.shape.size() != 2 ||
        std::find(seen.begin(), seen.end(), tensor.offset) != seen.end())
      return {};
    seen.push_back(tensor.offset);
    Filter filter{tensor.shape[0], tensor.shape[1], {}};
    if (filter.taps < 2)
      return Error{fmt::format("a filter has {} tap: there is nothing to distill", filter.taps)};
    filter.values.resize(static_cast<size_t>(tensor.elements()));
    for (int64_t t = 0; t < filter.taps; ++t)
      for (int64_t c = 0; c < filter.channels; ++c) {
        const double value =
            numberAt(tensor.dtype, data, static_cast<size_t>(t * filter.channels + c));
        if (!std::isfinite(value))
          return Error{fmt::format("filter {} is not finite at tap {} of channel {}: the "
                                   "parameters are damaged, or their training diverged",
                                   filters.size(), t, c)};
        filter.values[static_cast<size_t>(c * filter.taps + t)] = value;
      }
    filters.push_back(std::move(filter));
    return {};
  };
  auto find = [&](uint64_t offset) -> Result<void> {
    auto holds = [&](const ParameterInfo &tensor) {
      const auto bytes = static_cast<uint64_t>(tensor.elements() * bytesOf(tensor.dtype));
      return tensor.offset <= offset && offset < tensor.offset + bytes;
    };
    for (size_t i = 0; i < executable.states().size(); ++i)
      if (const ParameterInfo &state = executable.states()[i]; holds(state))
        return state.name.starts_with("state:") ? Result<void>()
                                                : add(state, session.decodingState(i));
    for (size_t i = 0; i < executable.parameters().size(); ++i)
      if (const ParameterInfo &parameter = executable.parameters()[i]; holds(parameter))
        return add(parameter, session.parameter(i));
    return {};
  };
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view() == "prefill")
      for (const fb::Step *step : *program->steps()) {
        if (!step->op() || step->op()->string_view().find("fftconv") == std::string_view::npos)
          continue;
        for (const fb::BufferRef &buffer : buffersOf(*step))
          if (buffer.space() == fb::Space::Parameters && buffer.bytes())
            if (auto done = find(buffer.offset()); !done)
              return done.error();
      }
  return filters;
}

/// A number of states, and how near they come over all channels.
struct Order {
  int64_t states = 0;
  double median = 0, worst = 0;
};

struct Fitted {
  std::vector<Order> orders;
  std::vector<std::vector<Mode>> modes; // of each filter: [channel][state] of the last order
};

Fitted fitAll(const std::vector<Filter> &filters, int64_t states, int threads) {
  Fitted fitted;
  for (int64_t order = 1; order < states; order *= 2)
    fitted.orders.push_back({order});
  fitted.orders.push_back({states});
  std::vector<std::pair<size_t, int64_t>> channels;
  for (size_t i = 0; i < filters.size(); ++i) {
    fitted.modes.emplace_back(static_cast<size_t>(filters[i].channels * states));
    for (int64_t c = 0; c < filters[i].channels; ++c)
      channels.emplace_back(i, c);
  }
  std::vector<std::vector<double>> errors(fitted.orders.size(),
                                          std::vector<double>(channels.size()));
  parallelFor(static_cast<int64_t>(channels.size()), threads, [&](int64_t lo, int64_t hi, int) {
    for (auto n = static_cast<size_t>(lo); n < static_cast<size_t>(hi); ++n) {
      const auto [i, c] = channels[n];
      const distill::ModalFitter fitter(filters[i].channel(c), states);
      for (size_t o = 0; o < fitted.orders.size(); ++o) {
        const distill::ModalFit fit = fitter.fit(fitted.orders[o].states);
        errors[o][n] = fit.error;
        if (fitted.orders[o].states == states)
          std::copy(fit.modes.begin(), fit.modes.end(),
                    fitted.modes[i].begin() + static_cast<ptrdiff_t>(c * states));
      }
    }
  });
  for (size_t o = 0; o < fitted.orders.size(); ++o) {
    std::sort(errors[o].begin(), errors[o].end());
    fitted.orders[o].median = errors[o][errors[o].size() / 2];
    fitted.orders[o].worst = errors[o].back();
  }
  return fitted;
}

/// The text of the model with modal filters, in `path`.
Result<void> writeText(const ModelSpec &spec, int64_t states, const std::string &path) {
  std::vector<std::string> arguments{spec.path, "-o", path,
                                     fmt::format("--modal-filters={}", states)};
  if (spec.model)
    arguments.push_back("--model=" + *spec.model);
  auto end = runForOutput(findCompiler(), arguments);
  if (!end)
    return end.error();
  if (end->status == 0)
    return {};
  std::fputs(end->err.c_str(), stderr);
  return Error{fmt::format("the text of {} could not be given modal filters", spec.path)};
}

/// Numbers of the modes as parameters of modal_poles: residues [channels, states, 2], then rates
/// and angles [channels, states].
Result<std::vector<SafetensorsTensor>> modalParameters(const std::vector<ParameterInfo> &added,
                                                       const std::vector<Filter> &filters,
                                                       const Fitted &fitted, int64_t states,
                                                       std::vector<std::vector<float>> &numbers) {
  std::vector<SafetensorsTensor> tensors;
  if (added.size() != 3 * filters.size())
    return Error{fmt::format(
        "the model has {} free filters, but its text with modal ones has {} new parameters, "
        "expected {}: not every filter is named in the text, or one is no long filter",
        filters.size(), added.size(), 3 * filters.size())};
  for (size_t i = 0; i < filters.size(); ++i) {
    const std::vector<int64_t> shape{filters[i].channels, states},
        pairs{filters[i].channels, states, 2};
    for (size_t part = 0; part < 3; ++part) {
      const ParameterInfo &parameter = added[3 * i + part];
      if (parameter.shape != (part == 0 ? pairs : shape))
        return Error{fmt::format("filter {} has {} channels, but the parameter '{}' of its modal "
                                 "filter is {}: heads and experts that share a filter are not "
                                 "distilled",
                                 i, filters[i].channels, parameter.name, parameter.shapeText())};
      std::vector<float> &values = numbers.emplace_back();
      for (const Mode &mode : fitted.modes[i])
        if (part == 0)
          values.insert(values.end(), {static_cast<float>(mode.re), static_cast<float>(mode.im)});
        else
          values.push_back(static_cast<float>(part == 1 ? mode.rate : mode.angle));
      tensors.push_back({parameter.name, DType::F32, parameter.shape,
                         std::as_bytes(std::span<const float>(values))});
    }
  }
  return tensors;
}

void report(const DistillOptions &options, const std::vector<Filter> &filters,
            const Fitted &fitted) {
  int64_t channels = 0;
  for (const Filter &filter : filters)
    channels += filter.channels;
  if (options.json) {
    nlohmann::ordered_json result{{"filters", filters.size()}, {"channels", channels}};
    for (const Order &order : fitted.orders)
      result["orders"].push_back(
          {{"states", order.states}, {"median_error", order.median}, {"worst_error", order.worst}});
    return say("{}\n", jsonText(result));
  }
  say("filters: {}, of {} channels together; errors are |filter - fit| / |filter|\n"
      "states  median error  worst error\n",
      filters.size(), channels);
  for (const Order &order : fitted.orders)
    say("{:6}  {:12.2e}  {:11.2e}\n", order.states, order.median, order.worst);
}

} // namespace

Result<void> distillFilters(const DistillOptions &options) {
  auto spec = decodingSpec(options.model, 0, 1);
  if (!spec)
    return spec.error();
  ModelSpec wide = *spec;
  wide.precision = "f64";
  auto executable = wide.load();
  if (!executable)
    return executable.error();
  auto session = decodingSession(*executable, 0);
  if (!session)
    return session.error();
  if (auto done = loadParameters(**session, options.checkpoint, options.average); !done)
    return done;
  if (auto decoder = Decoder::create(**session); !decoder) // which prepares the filters
    return decoder.error();
  auto filters = freeFilters(**session);
  if (!filters)
    return filters.error();
  if (filters->empty())
    return Error{fmt::format("{} has no free filter: what a step of it keeps is finite already, or "
                             "is attention's",
                             options.model.path)};
  const Fitted fitted = fitAll(*filters, options.states, (*session)->threads());

  std::error_code failed;
  std::filesystem::create_directories(options.out, failed);
  if (failed)
    return Error{fmt::format("cannot make the folder '{}': {}", options.out, failed.message())};
  const std::string text = options.out + "/model.hyb", weights = options.out + "/model.safetensors";
  if (auto written = writeText(*spec, options.states, text); !written)
    return written;
  ModelSpec modal = *spec;
  modal.path = text;
  auto distilled = modal.load();
  if (!distilled)
    return distilled.error();
  const auto &before = (*executable)->parameters();
  std::vector<SafetensorsTensor> tensors;
  std::vector<ParameterInfo> added;
  std::vector<std::vector<float>> kept;
  for (const ParameterInfo &parameter : (*distilled)->parameters()) {
    auto same = std::find_if(before.begin(), before.end(), [&](const ParameterInfo &other) {
      return other.name == parameter.name && other.shape == parameter.shape;
    });
    if (same == before.end()) {
      added.push_back(parameter);
      continue;
    }
    const auto data = (*session)->parameter(static_cast<size_t>(same - before.begin()));
    std::vector<float> &values = kept.emplace_back();
    for (int64_t i = 0; i < same->elements(); ++i)
      values.push_back(static_cast<float>(numberAt(same->dtype, data, static_cast<size_t>(i))));
    tensors.push_back({parameter.name, DType::F32, parameter.shape,
                       std::as_bytes(std::span<const float>(values))});
  }
  std::vector<std::vector<float>> numbers;
  numbers.reserve(added.size());
  auto modes = modalParameters(added, *filters, fitted, options.states, numbers);
  if (!modes)
    return modes.error();
  tensors.insert(tensors.end(), modes->begin(), modes->end());
  std::map<std::string, std::string> metadata;
  auto tokenizer = tokenizerOfCheckpoint(options.checkpoint);
  if (!tokenizer)
    return tokenizer.error();
  if (*tokenizer)
    metadata[tokenizerKey] = (*tokenizer)->serialized();
  addHashes(tensors, metadata);
  if (auto written = writeSafetensors(weights, tensors, metadata); !written)
    return written;
  report(options, *filters, fitted);
  if (!options.json)
    say("{} and {}\n", text, weights);
  return {};
}

} // namespace hybrid::rt
