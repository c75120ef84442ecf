//===- LayerHelp.cpp - what a layer or model is, for people --------------------===//
#include "frontends/dsl/LayerHelp.h"
#include "frontends/dsl/Library.h"
#include "frontends/dsl/Parser.h"
#include "frontends/dsl/Values.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace hybrid::dsl {
namespace {

/// The comments that end right above `offset`, without their marks.
std::vector<std::string> commentsAbove(llvm::StringRef text, size_t offset, llvm::StringRef mark) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.take_front(offset).split(lines, '\n');
  std::vector<std::string> found;
  for (size_t i = lines.size() - 1; i-- > 0 && lines[i].trim().starts_with(mark);)
    found.push_back(lines[i].trim().drop_front(mark.size()).trim().str());
  std::reverse(found.begin(), found.end());
  return found;
}

/// A file of the library, parsed alone.
class LibraryFile {
public:
  explicit LibraryFile(const std::string &path)
      : module("std." + llvm::sys::path::stem(path).str()), sources(manager),
        context(mlir::MLIRContext::Threading::DISABLED) {
    mlir::ScopedDiagnosticHandler silence(&context, [](mlir::Diagnostic &) {});
    Diagnostics diagnostics(context, sources);
    std::string reason;
    if (std::optional<uint32_t> file = sources.load(path, reason))
      syntax = parse(*file, diagnostics);
  }

  std::vector<const Definition *> layers() const {
    std::vector<const Definition *> found;
    for (const auto &definition : syntax.definitions)
      if (!definition->isModel)
        found.push_back(definition.get());
    return found;
  }

  /// What stands at the top of the file.
  std::string about() const {
    llvm::StringRef text = sources.file(syntax.file).text;
    std::vector<std::string> lines;
    while (text.starts_with("//") && !text.starts_with("///")) {
      auto [line, rest] = text.split('\n');
      lines.push_back(line.drop_front(2).trim().str());
      text = rest;
    }
    return llvm::join(lines, "\n");
  }

  std::string module;
  llvm::SourceMgr manager;
  SourceFiles sources;
  mlir::MLIRContext context;
  FileSyntax syntax;
};

/// For Markdown: marks of its own are letters, but for those of code.
std::string escaped(llvm::StringRef text) {
  std::string result;
  bool isCode = false;
  for (char c : text) {
    isCode ^= c == '`';
    if (!isCode && llvm::StringRef("*_<[").contains(c))
      result += '\\';
    result += c;
  }
  return result;
}

/// "x, heads = 16": what one writes in a call.
void writeSignature(const Definition &definition, llvm::raw_ostream &out) {
  constexpr size_t width = 110;
  std::string line = (definition.isModel ? "model " : "layer ") + definition.name + "(";
  const size_t indent = line.size();
  for (size_t i = 0; i < definition.parameters.size(); ++i) {
    const bool isLast = i + 1 == definition.parameters.size();
    std::string parameter = text(definition.parameters[i]) + (isLast ? ")" : ",");
    if (isLast && definition.result)
      parameter += " -> " + text(*definition.result);
    if (i > 0 && line.size() + 1 + parameter.size() > width) {
      out << line << '\n';
      line = std::string(indent, ' ');
    } else if (i > 0) {
      line += ' ';
    }
    line += parameter;
  }
  if (definition.parameters.empty())
    line += ")" + (definition.result ? " -> " + text(*definition.result) : "");
  out << line << '\n';
}

} // namespace

std::string documentationOf(const SourceFiles &sources, const Definition &definition) {
  return llvm::join(
      commentsAbove(sources.file(definition.place.file).text, definition.place.offset, "///"),
      "\n");
}

std::string text(const ParameterSyntax &parameter) {
  std::string result = parameter.name + ": " + text(parameter.type);
  if (parameter.initial)
    result += " = " + parameter.initialText;
  return result;
}

std::string signatureOf(const Definition &definition) {
  std::vector<std::string> parameters;
  for (const ParameterSyntax &parameter : definition.parameters)
    parameters.push_back(text(parameter));
  return (definition.isModel ? "model " : "layer ") + definition.name + "(" +
         llvm::join(parameters, ", ") + ")" +
         (definition.result ? " -> " + text(*definition.result) : "");
}

bool describeLayer(llvm::StringRef name, const std::vector<std::string> &importPaths,
                   llvm::raw_ostream &out) {
  std::set<std::string> names;
  std::set<std::string> seen; // a module is the one of the first folder that has it
  bool found = false;
  for (const std::string &folder : importPaths)
    for (const std::string &path : libraryFiles(folder)) {
      const LibraryFile file(path);
      if (!seen.insert(file.module).second)
        continue;
      for (const Definition *layer : file.layers()) {
        names.insert(layer->name);
        if (name != layer->name && name != file.module + "." + layer->name)
          continue;
        out << (found ? "\n" : "") << "use " << file.module << "\n\n";
        writeSignature(*layer, out);
        const std::string about = documentationOf(file.sources, *layer);
        for (llvm::StringRef line : llvm::split(about, '\n'))
          out << (line.empty() ? "" : "  ") << line << '\n';
        found = true;
      }
    }
  if (!found)
    out << "there is no layer '" << name << "' in the library"
        << didYouMean(name, std::vector<std::string>(names.begin(), names.end())) << '\n';
  return found;
}

bool describeLibrary(const std::string &folder, llvm::raw_ostream &out) {
  const std::vector<std::string> files = libraryFiles(folder);
  out << "<!-- Made by hybridc --help-layer all: what the comments of models/std say. -->\n"
         "# The library of layers\n\n"
         "Every layer of `models/std`: how it is called, with the defaults of its options, and "
         "what "
         "its comment says. `hybridc --help-layer NAME` prints one of them.\n";
  for (const std::string &path : files) {
    const LibraryFile file(path);
    out << "\n## " << file.module << "\n\n" << escaped(file.about()) << '\n';
    for (const Definition *layer : file.layers()) {
      out << "\n### " << escaped(layer->name) << "\n\n```text\n";
      writeSignature(*layer, out);
      out << "```\n";
      if (std::string about = documentationOf(file.sources, *layer); !about.empty())
        out << '\n' << escaped(about) << '\n';
    }
  }
  return !files.empty();
}

} // namespace hybrid::dsl
