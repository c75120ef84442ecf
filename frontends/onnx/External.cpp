//===- External.cpp - weights in files beside a model ------------------------------===//
#include "frontends/onnx/External.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace hybrid::onnx::frontend {

std::optional<std::string> readExternal(const std::string &model, const ExternalPlace &place,
                                        std::string &fault) {
  auto refuse = [&](const Twine &why) {
    fault = ("lies in '" + place.location + "', " + why).str();
    return std::nullopt;
  };
  SmallString<256> folder(model);
  sys::path::remove_filename(folder);
  if (folder.empty())
    folder = ".";
  SmallString<256> path(folder), realFolder, realPath;
  sys::path::append(path, place.location);
  if (place.location.empty() || sys::path::is_absolute(place.location))
    return refuse("expected a file beside the model");
  if (std::error_code error = sys::fs::real_path(folder, realFolder))
    return refuse(error.message());
  if (std::error_code error = sys::fs::real_path(path, realPath))
    return refuse("which cannot be read: " + error.message());
  // Symbolic links and ".." are followed before it is looked where they lead.
  StringRef below = realPath;
  if (!below.consume_front(realFolder) || !(below.starts_with("/") || realFolder == "/"))
    return refuse("which is outside of the model's folder");
  sys::fs::file_status status;
  if (sys::fs::status(realPath, status) || status.type() != sys::fs::file_type::regular_file)
    return refuse("which is no file");
  const auto size = static_cast<int64_t>(status.getSize());
  const int64_t length = place.length > 0 ? place.length : size - place.offset;
  if (place.offset > size || length > size - place.offset)
    return refuse("which has " + Twine(size) + " bytes, expected " + Twine(length) + " from byte " +
                  Twine(place.offset) + " on");
  auto bytes = MemoryBuffer::getFileSlice(realPath, static_cast<uint64_t>(length), place.offset);
  if (!bytes)
    return refuse("which cannot be read: " + bytes.getError().message());
  return (*bytes)->getBuffer().str();
}

} // namespace hybrid::onnx::frontend
