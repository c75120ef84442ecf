//===- Decoder.cpp - a sequence token by token -------------------------------===//
#include "runtime/Decoder.h"
#include "executable/Executable_generated.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace hybrid::rt {

/// The outputs of `forward` may have other names than logits; the first of the right shape will do.
Result<Decoder::Program> Decoder::programOf(const Executable &executable, const std::string &name) {
  const ProgramInfo *info = executable.findProgram(name);
  if (!info)
    return Error{fmt::format("{} has no program '{}': compile it with hybridc --decode",
                             executable.name(), name)};
  Program program{name};
  program.tokens = info->findInput("tokens");
  program.positions = info->findInput("positions");
  for (const TensorInfo &input : info->inputs)
    if (!program.tokens && &input != program.positions)
      program.tokens = &input;
  if (!program.tokens || program.tokens->shape.size() != 2 || program.tokens->dtype != DType::I32)
    return Error{fmt::format("{}: program '{}' has no input of tokens [batch, length]",
                             executable.name(), name)};
  for (const TensorInfo &output : info->outputs)
    if (output.shape.size() == 3 && output.dtype != DType::I32 &&
        output.shape[1] == program.tokens->shape[1] && (!program.logits || output.name == "logits"))
      program.logits = &output;
  if (!program.logits)
    return Error{fmt::format("{}: program '{}' has no output of logits [batch, length, vocabulary]",
                             executable.name(), name)};
  return program;
}

Result<Decoder> Decoder::create(Session &session) {
  const Executable &executable = session.executable();
  Decoder decoder(session);
  std::vector<std::string> names{"prefill", "step"};
  for (const fb::Program *program : *executable.format().programs())
    if (program->name()->string_view().starts_with("prefill."))
      names.push_back(program->name()->str());
  for (const std::string &name : names) {
    auto program = programOf(executable, name);
    if (!program)
      return program.error();
    decoder.programs.push_back(std::move(*program));
  }
  std::sort(decoder.programs.begin(), decoder.programs.end(),
            [](const Program &a, const Program &b) { return a.length() > b.length(); });
  if (decoder.step().length() != 1)
    return Error{fmt::format("{}: program '{}' takes {} tokens at once, and none takes one",
                             executable.name(), decoder.step().name, decoder.step().length())};
  if (executable.replicas() != 1)
    return Error{fmt::format("{} is for {} replicas, but one sequence is decoded at a time",
                             executable.name(), executable.replicas())};
  decoder.ids = idsOf(executable, decoder.step().name, decoder.step().tokens->name);
  for (const Program &program : decoder.programs)
    if (auto ids = program.positions ? idsOf(executable, program.name, program.positions->name)
                                     : std::nullopt)
      decoder.most = ids->below;
  decoder.independent = decoder.findIndependence();
  if (auto done = decoder.restart(); !done)
    return done.error();
  return decoder;
}

/// Every carried state has a row for each sequence, and so have the positions' numbers.
bool Decoder::findIndependence() const {
  const auto &states = session->executable().states();
  for (size_t i = 0; i < states.size(); ++i)
    if (isCarried(i) && (states[i].shape.empty() || states[i].shape[0] != rows()))
      return false;
  return std::none_of(programs.begin(), programs.end(), [](const Program &program) {
    return program.positions && program.positions->shape.size() != 2;
  });
}

/// Of a sequence, and not of the parameters alone.
bool Decoder::isCarried(size_t state) const {
  return session->executable().states()[state].name.starts_with("state:");
}

Result<void> Decoder::restart() {
  if (auto done = rewind(); !done)
    return done;
  return session->executable().findProgram("prepare") ? session->run("prepare") : Result<void>();
}

Result<void> Decoder::rewind() {
  const auto &states = session->executable().states();
  for (size_t i = 0; i < states.size(); ++i) {
    if (!isCarried(i))
      continue;
    const std::vector<std::byte> zeros(
        static_cast<size_t>(states[i].elements() * bytesOf(states[i].dtype)));
    if (auto done = session->setDecodingState(i, zeros); !done)
      return done;
  }
  taken.assign(static_cast<size_t>(rows()), 0);
  last.reset();
  forget();
  return {};
}

Result<void> Decoder::take(std::span<const int32_t> tokens) { return take(tokens, 0, {}); }

Result<void> Decoder::take(std::span<const int32_t> tokens, int64_t from, const Visit &visit) {
  const auto count = static_cast<int64_t>(tokens.size()) / rows();
  if (count < 1 || count * rows() != static_cast<int64_t>(tokens.size()))
    return Error{fmt::format("{} tokens are no rows of {} sequences", tokens.size(), rows())};
  for (size_t i = 0; ids && i < tokens.size(); ++i)
    if (!ids->has(tokens[i]))
      return Error{fmt::format("token {} is {}, expected {}", i, tokens[i], ids->text())};
  for (int64_t before : taken)
    if (most && before + count > *most)
      return Error{fmt::format("{} tells positions apart up to number {}, and {} tokens were to "
                               "follow {}",
                               session->executable().name(), *most, count, before)};
  std::vector<double> values(visit ? static_cast<size_t>(vocabulary()) : 0);
  for (int64_t first = 0; first < count;) {
    const auto longest = std::find_if(programs.begin(), programs.end(), [&](const Program &each) {
      return each.length() <= count - first;
    });
    const Program &program = *longest;
    if (auto done = run(static_cast<size_t>(longest - programs.begin()), tokens, first); !done)
      return done;
    for (int64_t row = 0; visit && row < rows(); ++row)
      for (int64_t t = std::max<int64_t>(0, from - first); t < program.length(); ++t) {
        if (auto done = read(program, row, t, values); !done)
          return done;
        visit(row, first + t, values);
      }
    if (auto done = note(tokens, first, program.length()); !done)
      return done;
    first += program.length();
  }
  return {};
}

Result<void> Decoder::run(size_t number, std::span<const int32_t> tokens, int64_t first) {
  const Program &program = programs[number];
  const int64_t length = program.length(), count = static_cast<int64_t>(tokens.size()) / rows();
  std::span<int32_t> input = session->inputAs<int32_t>(program.name, program.tokens->name);
  if (input.empty())
    return Error{"there is no memory for the tokens"};
  for (int64_t row = 0; row < rows(); ++row)
    std::copy_n(tokens.begin() + row * count + first, length, input.begin() + row * length);
  if (program.positions) {
    // Of each row, or of all of them together.
    std::span<int32_t> numbers = session->inputAs<int32_t>(program.name, program.positions->name);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<int32_t>(taken[i / static_cast<size_t>(length)] +
                                        static_cast<int64_t>(i) % length);
  }
  if (auto done = session->run(program.name); !done)
    return done;
  last = number;
  for (int64_t &count : taken)
    count += length;
  return {};
}

Result<void> Decoder::takeEach(std::span<const std::optional<int32_t>> tokens) {
  if (static_cast<int64_t>(tokens.size()) != rows())
    return Error{fmt::format("{} tokens are not one of each of {} rows", tokens.size(), rows())};
  if (auto done = checkRow(0); !done)
    return done;
  std::vector<int32_t> taking(tokens.size());
  for (size_t row = 0; row < tokens.size(); ++row) {
    if (!tokens[row])
      taken[row] = 0; // any that there is
    taking[row] = tokens[row].value_or(0);
  }
  forget();
  return take(taking);
}

Result<void> Decoder::logits(int64_t row, std::span<double> values) {
  if (row < 0 || row >= rows())
    return Error{fmt::format("there is no row {} of {}", row, rows())};
  if (!last)
    return Error{"no token was taken yet, and there are no logits"};
  const Program &program = programs[*last];
  return read(program, row, program.length() - 1, values);
}

Result<void> Decoder::read(const Program &program, int64_t row, int64_t position,
                           std::span<double> values) {
  std::span<const std::byte> data = session->output(program.name, program.logits->name);
  if (data.empty())
    return Error{"the logits could not be read"};
  const size_t width = static_cast<size_t>(vocabulary());
  const size_t from = static_cast<size_t>(row * program.length() + position) * width;
  for (size_t c = 0; c < std::min(width, values.size()); ++c)
    values[c] = numberAt(program.logits->dtype, data, from + c);
  return {};
}

Result<void> Decoder::checkRow(int64_t row) const {
  if (row < 0 || row >= rows())
    return Error{fmt::format("there is no row {} of {}", row, rows())};
  if (!independent)
    return Error{fmt::format("the sequences of {} can only go side by side: what it carries from "
                             "token to token is not all of one sequence",
                             session->executable().name())};
  return {};
}

Result<Decoder::Place> Decoder::save() { return save({}); }

Result<Decoder::Place> Decoder::saveRow(int64_t row) {
  if (auto done = checkRow(row); !done)
    return done.error();
  return save(row);
}

Result<Decoder::Place> Decoder::save(std::optional<int64_t> row) {
  Place place;
  place.position = position(row.value_or(0));
  for (size_t i = 0; i < session->executable().states().size(); ++i) {
    place.states.emplace_back();
    if (!isCarried(i))
      continue;
    std::span<const std::byte> state = session->decodingState(i, row);
    if (state.empty())
      return Error{
          fmt::format("the state '{}' could not be read", session->executable().states()[i].name)};
    place.states.back().assign(state.begin(), state.end());
  }
  return place;
}

Result<void> Decoder::restore(const Place &place) {
  if (auto done = restore(place, {}); !done)
    return done;
  taken.assign(taken.size(), place.position);
  return {};
}

Result<void> Decoder::restoreRow(int64_t row, const Place &place) {
  if (auto done = checkRow(row); !done)
    return done;
  if (auto done = restore(place, row); !done)
    return done;
  taken[static_cast<size_t>(row)] = place.position;
  return {};
}

Result<void> Decoder::restore(const Place &place, std::optional<int64_t> row) {
  if (place.states.size() != session->executable().states().size())
    return Error{"the place belongs to another executable"};
  for (size_t i = 0; i < place.states.size(); ++i)
    if (isCarried(i))
      if (auto done = session->setDecodingState(i, place.states[i], row); !done)
        return done;
  last.reset();
  forget();
  return {};
}

void Decoder::forget() {
  remembered = 0;
  places.clear();
  history.clear();
}

Result<void> Decoder::remember(int64_t tokens) {
  forget();
  auto here = save();
  if (!here)
    return here.error();
  places.push_back(std::move(*here));
  remembered = tokens;
  return {};
}

Result<void> Decoder::note(std::span<const int32_t> tokens, int64_t first, int64_t count) {
  if (!remembered)
    return {};
  const int64_t all = static_cast<int64_t>(tokens.size()) / rows();
  for (int64_t i = first; i < first + count; ++i)
    for (int64_t row = 0; row < rows(); ++row)
      history.push_back(tokens[static_cast<size_t>(row * all + i)]);
  constexpr int64_t mostPlaces = 8;
  if (position() - places.back().position < std::max<int64_t>(1, remembered / mostPlaces))
    return {};
  auto here = save();
  if (!here)
    return here.error();
  places.push_back(std::move(*here));
  while (places.size() > 1 && places[1].position < position() - remembered) {
    const int64_t dropped = (places[1].position - places[0].position) * rows();
    history.erase(history.begin(), history.begin() + dropped);
    places.pop_front();
  }
  return {};
}

Result<void> Decoder::takeBack(int64_t count) {
  const int64_t target = position() - count;
  if (count < 0 || places.empty() || target < places.front().position)
    return Error{fmt::format("{} tokens cannot be taken back: {} are remembered", count,
                             places.empty() ? 0 : position() - places.front().position)};
  // The token before is taken again, for its logits.
  while (places.size() > 1 && places.back().position >= target)
    places.pop_back();
  std::deque<Place> kept = std::move(places);
  std::deque<int32_t> past = std::move(history);
  const int64_t most = remembered, from = kept.back().position - kept.front().position;
  if (auto done = restore(kept.back()); !done)
    return done;
  const int64_t again = target - position();
  std::vector<int32_t> tokens(static_cast<size_t>(again * rows()));
  for (int64_t i = 0; i < again; ++i)
    for (int64_t row = 0; row < rows(); ++row)
      tokens[static_cast<size_t>(row * again + i)] =
          past[static_cast<size_t>((from + i) * rows() + row)];
  past.resize(static_cast<size_t>(from * rows()));
  places = std::move(kept);
  history = std::move(past);
  remembered = most;
  return again ? take(tokens) : Result<void>();
}

} // namespace hybrid::rt
