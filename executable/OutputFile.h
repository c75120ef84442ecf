//===- OutputFile.h - the one way both programs write a file ----------------===//
//
// What is written goes to a temporary file beside the target, is synced to the disk and then
// renamed over it: a crash, a full disk or a signal at any moment leaves the old file or the new
// one. A target that is no regular file (a device, a pipe) is written to and never replaced; a
// symbolic link stays, and what it names is replaced. Temporary files of processes that are gone
// are removed (executable/TemporaryOutput.h). What grows record by record is a
// runtime/files/AppendFile.h.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hybrid {

class OutputFile {
public:
  /// Secret: for this user alone, and what is there already stays: the first one counts.
  enum class Kind { Usual, Secret };
  /// Opens for writing; error() says whether that went well.
  explicit OutputFile(std::string path, Kind kind = Kind::Usual);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  /// Removes the temporary file unless commit() succeeded.
  ~OutputFile();

  /// Nothing is written any more after a first failure.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Syncs, renames to the final name, syncs the folder. Returns error().
  const std::string &commit();
  /// The first thing that went wrong, as a sentence that names the path; empty: nothing.
  const std::string &error() const { return fault; }

private:
  void begin();
  void openThrough();
  void openTemporary();
  void putInPlace();
  void fail(const std::string &what);

  std::string path; // as the user wrote it
  Kind kind;
  std::string target;    // the regular file that it names; empty: written through
  std::string temporary; // beside the target
  std::string fault;
  int descriptor = -1;
};

/// One call for content that is already in memory. Returns the error; empty: none.
std::string writeOutputFile(const std::string &path, std::string_view content,
                            OutputFile::Kind kind = OutputFile::Kind::Usual);

/// Makes a write beyond the limit on sizes of files (SIGXFSZ) an error of that write. For main().
void letFullFilesBeErrors();
/// Flushes standard output. The error if anything written there was lost; empty: none.
std::string flushStandardOutput();

/// The exit status of a program that ended with `status`: 1, and an error is told, where that would
/// be success but what it printed was lost.
int finishStandardOutput(int status);

} // namespace hybrid
