//===- Folder.h - folders of models, read and made ------------------------------===//
#pragma once
#include "training/exchange/Family.h"
#include <filesystem>

namespace hybrid::rt::exchange {

/// A folder that is filled, or made and filled: what is written there is removed again unless
/// keep() is called.
class OutputFolder {
public:
  /// The folder must not be there, or be empty.
  static Result<OutputFolder> create(const std::string &path);
  OutputFolder(OutputFolder &&other) noexcept;
  OutputFolder &operator=(OutputFolder &&) = delete;
  ~OutputFolder();

  /// The path of a file that is to be written.
  std::string file(const std::string &name);
  Result<void> write(const std::string &name, std::string_view content);
  void keep() { written.clear(), made = false; }

private:
  OutputFolder() = default;
  std::filesystem::path path;
  std::vector<std::filesystem::path> written;
  bool made = false; // the folder is this object's own
};

/// The small files beside the weights of a model, as they are: name and content.
Result<std::vector<std::pair<std::string, std::string>>> readSideFiles(const std::string &folder);

/// What config.json of a folder describes. The error names the file, and every key at fault.
struct Described {
  std::string type;
  Architecture architecture;
};
Result<Described> describe(const std::string &folder);

/// "'a', 'b' and 7 more".
std::string someOf(const std::vector<std::string> &names);

} // namespace hybrid::rt::exchange
