//===- TemporaryOutput.h - what is being written, and by whom ---------------===//
//
// What is not yet whole has a name of its own beside its target, and its writer holds a lock on it:
// what has such a name and no lock was left by a process that is gone.
//
//===----------------------------------------------------------------------===//
#pragma once
#include <string>

namespace hybrid {

std::string folderOf(const std::string &path);

/// The name beside a target, with letters for mkostemp or mkdtemp to fill in.
std::string temporaryTemplate(const std::string &target);
/// Says that the writer of an open file or folder lives. False: between its making and now another
/// process took it for abandoned, and removed it.
bool markAlive(int descriptor, const std::string &path);

/// Removes files and folders in a folder whose writers are gone.
void removeAbandonedOutput(const std::string &folder);
/// The same, once a process.
void removeAbandonedOnce(const std::string &folder);

/// Renames over what is there, and syncs the folder. The error, of errno; empty: none.
std::string moveInPlace(const std::string &from, const std::string &to);

/// A folder beside `target` to write files in, which goes away with this.
class TemporaryFolder {
public:
  /// error() says whether it was made.
  explicit TemporaryFolder(std::string target);
  TemporaryFolder(TemporaryFolder &&other) noexcept;
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  const std::string &path() const { return folder; }
  /// Gives it the name of the target, which is not there or is an empty folder. Returns error().
  const std::string &commit();
  /// The first thing that went wrong, as a sentence that names the target; empty: nothing.
  const std::string &error() const { return fault; }

private:
  std::string target, folder, fault;
  int descriptor = -1;
};

} // namespace hybrid
