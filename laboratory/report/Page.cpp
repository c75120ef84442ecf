//===- Page.cpp - a report as one page that draws its data ----------------------===//
#include "laboratory/report/Page.h"
#include "runtime/files/Json.h"
#include <array>
#include <string_view>

extern "C" {
extern const char hybridReportPageBegin[], hybridReportPageEnd[];
extern const char hybridReportStyleBegin[], hybridReportStyleEnd[];
extern const char hybridReportScriptBegin[], hybridReportScriptEnd[];
extern const char hybridReportChartsBegin[], hybridReportChartsEnd[];
}

namespace hybrid::rt::lab::report {
namespace {

/// Text for the inside of an element; what is no UTF-8 is replaced.
std::string escaped(const std::string &text) {
  std::string out;
  const std::string quoted = jsonLine(nlohmann::json(text));
  for (char c : nlohmann::json::parse(quoted, nullptr, false).get<std::string>())
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  return out;
}

/// JSON for the inside of a script element: '<' is only in strings, and no tag may begin there.
std::string embedded(const nlohmann::ordered_json &data) {
  std::string out;
  for (char c : jsonLine(data))
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}

std::string textOf(const nlohmann::ordered_json &data, const char *key) {
  auto found = data.find(key);
  return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

} // namespace

std::string page(const nlohmann::ordered_json &data) {
  std::string_view skeleton(hybridReportPageBegin, hybridReportPageEnd);
  const std::string title = escaped(textOf(data, "title")), text = escaped(textOf(data, "text")),
                    json = embedded(data);
  const std::array<std::pair<std::string_view, std::string_view>, 8> parts{
      {{"{{title}}", title},
       {"{{text}}", text},
       {"{{data}}", json},
       {"{{script-hash}}", HYBRID_REPORT_SCRIPT_HASH},
       {"{{charts-hash}}", HYBRID_REPORT_CHARTS_HASH},
       {"{{style}}", {hybridReportStyleBegin, hybridReportStyleEnd}},
       {"{{script}}", {hybridReportScriptBegin, hybridReportScriptEnd}},
       {"{{charts}}", {hybridReportChartsBegin, hybridReportChartsEnd}}}};
  // One pass over the skeleton, so that text which looks like a place for something stays text.
  std::string out;
  while (!skeleton.empty()) {
    size_t at = skeleton.find("{{");
    out += skeleton.substr(0, at);
    if (at == std::string_view::npos)
      break;
    skeleton.remove_prefix(at);
    for (auto [place, content] : parts)
      if (skeleton.starts_with(place)) {
        out += content;
        skeleton.remove_prefix(place.size());
        break;
      }
  }
  return out;
}

} // namespace hybrid::rt::lab::report
