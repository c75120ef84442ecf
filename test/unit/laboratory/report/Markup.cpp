//===- Markup.cpp - whether text is HTML as it was meant ------------------------===//
#include "test/unit/laboratory/report/Markup.h"
#include <cctype>
#include <fmt/format.h>
#include <set>
#include <vector>

namespace hybrid::rt::lab::test {
namespace {

std::string around(std::string_view page, size_t at) {
  size_t from = at > 60 ? at - 60 : 0;
  return std::string(page.substr(from, 140));
}

bool isVoid(std::string_view name) {
  return name == "meta" || name == "link" || name == "br" || name == "img" || name == "input";
}

} // namespace

std::string markupFault(std::string_view page) {
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (size_t at = page.find('<'); at != std::string_view::npos; at = page.find('<', at)) {
    if (page.substr(at).starts_with("<!")) {
      at = page.find('>', at);
      continue;
    }
    size_t start = at++;
    bool closing = page[at] == '/';
    at += closing;
    size_t nameStart = at;
    while (at < page.size() && (std::isalnum(static_cast<unsigned char>(page[at])) != 0))
      ++at;
    std::string name(page.substr(nameStart, at - nameStart));
    if (name.empty())
      return "a '<' that begins no element: " + around(page, start);
    bool selfClosed = false;
    while (at < page.size() && page[at] != '>') {
      if (page[at] == ' ' || page[at] == '\n') {
        ++at;
      } else if (page[at] == '/') {
        selfClosed = true;
        ++at;
      } else {
        size_t from = at;
        while (at < page.size() &&
               (std::isalnum(static_cast<unsigned char>(page[at])) || page[at] == '-'))
          ++at;
        std::string_view attribute = page.substr(from, at - from);
        if (attribute.empty())
          return "no attribute: " + around(page, at);
        if (page[at] != '=')
          continue;
        if (page[at + 1] != '"')
          return "an attribute without quotes: " + around(page, at);
        size_t end = page.find('"', at + 2);
        std::string_view value = page.substr(at + 2, end - at - 2);
        if (value.find('<') != std::string_view::npos)
          return "'<' in an attribute: " + around(page, at);
        if (attribute == "id" && !ids.insert(std::string(value)).second)
          return fmt::format("id '{}' is there twice", value);
        at = end + 1;
      }
    }
    if (closing) {
      if (open.empty() || open.back() != name)
        return fmt::format("'{}' ends while '{}' is open: {}", name,
                           open.empty() ? "nothing" : open.back(), around(page, start));
      open.pop_back();
    } else if (!selfClosed && !isVoid(name)) {
      open.push_back(name);
      if (name == "script" || name == "style") // text up to its end
        at = page.find("</" + name + ">", at);
    }
  }
  return open.empty() ? "" : fmt::format("'{}' is not closed", open.back());
}

} // namespace hybrid::rt::lab::test
