//===- WriteReport.cpp - the page of the fixture, for the browser's test --------===//
#include "runtime/lab/report/Report.h"
#include "test/unit/report/StudyFixture.h"
#include <cstdio>
#include <string_view>

using namespace hybrid::rt::lab;

int main(int count, char **arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: hybrid-write-report OUT.html [hostile]\n");
    return 2;
  }
  Study study = test::makeStudy();
  if (count > 2 && std::string_view(arguments[2]) == "hostile") {
    // Names that would be markup, and one that is longer than any screen.
    auto rename = [&](size_t i, const std::string &name) {
      for (Run &run : study.runs)
        if (run.architecture == study.architectures[i].name)
          run.architecture = name;
      study.architectures[i].name = name;
    };
    rename(0, "</title></style></script><script>document.title='owned'</script>");
    rename(1, "\" onmouseover=\"document.title='owned'\" x=\"<img src=x onerror=alert(1)>");
    rename(2, std::string(400, 'W'));
    rename(3, "{{script}}{{body}}");
    study.architectures[4].source = "</code></pre><script>document.title='owned'</script>";
    study.command += " --set 'a=</code><iframe src=//example.invalid>'";
  }
  if (auto written = writeReport(study, scoreStudy(study), arguments[1]); !written) {
    std::fprintf(stderr, "error: %s\n", written.error().message.c_str());
    return 1;
  }
  return 0;
}
