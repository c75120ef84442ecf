//===- Decoder.h - a sequence token by token ---------------------------------===//
//
// Runs the programs that hybridc --decode makes: `prefill` takes many tokens at once, `prefill.16`
// and its like fewer, `step` one, and all go on from the states that the tokens before have left.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/InputIds.h"
#include "runtime/Session.h"
#include <deque>
#include <functional>
#include <optional>

namespace hybrid::rt {

class Decoder {
public:
  /// At the start of a sequence; the session outlives it. Fails where its executable has no
  /// programs that decode.
  static Result<Decoder> create(Session &session);

  /// Sequences that go side by side, each a row of the batch.
  int64_t rows() const { return step().tokens->shape[0]; }
  int64_t vocabulary() const { return step().logits->shape[2]; }
  /// Tokens of each sequence so far, or of one where they differ.
  int64_t position(int64_t row = 0) const { return taken[static_cast<size_t>(row)]; }
  /// Whether rows may be at different places: nothing that is carried is of all of them together.
  bool areRowsIndependent() const { return independent; }
  /// How many there may be; nothing: any number.
  std::optional<int64_t> mostPositions() const { return most; }

  /// Goes back to the start of a sequence. Also to be called when parameters have changed.
  Result<void> restart();
  /// The same with the parameters of the last restart(): what was prepared of them stays.
  Result<void> rewind();
  /// Takes the next tokens of the rows: [rows, count], at least one each.
  Result<void> take(std::span<const int32_t> tokens);
  /// Sees the logits [vocabulary] of a row after its token number `token` of those taken.
  using Visit = std::function<void(int64_t row, int64_t token, std::span<const double> logits)>;
  /// The same, and shows the logits after the tokens number `from` and on of each row.
  Result<void> take(std::span<const int32_t> tokens, int64_t from, const Visit &visit);
  /// Logits of a row after its last token.
  Result<void> logits(int64_t row, std::span<double> values);

  /// Takes the next token of each row that has one. A row without one is at no place until
  /// restoreRow() puts it there. For independent rows.
  Result<void> takeEach(std::span<const std::optional<int32_t>> tokens);

  /// A place in the sequences, to go back to. It belongs to this executable.
  struct Place {
    int64_t position = 0;
    std::vector<std::vector<std::byte>> states; // in the order of Executable::states()
  };
  Result<Place> save();
  Result<void> restore(const Place &place);
  /// The same of one of several independent rows. Such a place is one of any executable of the same
  /// model that differs in the number of rows: what one of a single row has saved, a row of another
  /// may go on from.
  Result<Place> saveRow(int64_t row);
  Result<void> restoreRow(int64_t row, const Place &place);

  /// From here on, and until restart() or restore(), up to `tokens` of each row can be taken back:
  /// places are saved on the way.
  Result<void> remember(int64_t tokens);
  /// Goes back by `count` tokens of each row, to where they were taken from. The logits are those
  /// of the token before.
  Result<void> takeBack(int64_t count);

private:
  struct Program {
    std::string name;
    const TensorInfo *tokens = nullptr, *positions = nullptr, *logits = nullptr;
    int64_t length() const { return tokens->shape[1]; }
  };
  explicit Decoder(Session &session) : session(&session) {}
  static Result<Program> programOf(const Executable &executable, const std::string &name);
  const Program &step() const { return programs.back(); }
  /// Runs a program on tokens from `first` on of each row.
  Result<void> run(size_t number, std::span<const int32_t> tokens, int64_t first);
  bool findIndependence() const;
  /// Logits of a row after a position of the program's last run.
  Result<void> read(const Program &program, int64_t row, int64_t position,
                    std::span<double> values);
  bool isCarried(size_t state) const;
  Result<Place> save(std::optional<int64_t> row);
  Result<void> restore(const Place &place, std::optional<int64_t> row);
  Result<void> checkRow(int64_t row) const;
  void forget();
  /// Notes a token of each row, or several, that were taken.
  Result<void> note(std::span<const int32_t> tokens, int64_t first, int64_t count);

  Session *session;
  std::vector<Program> programs; // the longest first, `step` last
  std::optional<size_t> last;    // the one that ran
  std::optional<InputIds> ids;   // what tokens may be
  std::optional<int64_t> most;
  std::vector<int64_t> taken; // of each row
  bool independent = false;
  int64_t remembered = 0;      // tokens that can be taken back
  std::deque<Place> places;    // the oldest first
  std::deque<int32_t> history; // tokens since the oldest place, those of all rows together
};

} // namespace hybrid::rt
