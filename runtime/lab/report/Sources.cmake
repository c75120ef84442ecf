# The report: C++ that writes the page, and what is not C++ of it, embedded as data.
set(report ${PROJECT_SOURCE_DIR}/runtime/lab/report)
set(report_assets ${report}/assets/page.html ${report}/assets/report.css ${report}/assets/report.js)
target_sources(HybridRuntime PRIVATE
  ${report}/Assets.S ${report}/Charts.cpp ${report}/Compare.cpp ${report}/ComparePage.cpp ${report}/CompareText.cpp
  ${report}/CurveSection.cpp
  ${report}/DifficultySection.cpp ${report}/Page.cpp ${report}/ReproduceSection.cpp ${report}/RunSection.cpp
  ${report}/ScoreSection.cpp ${report}/StudyReport.cpp ${report}/StudyView.cpp ${report}/Text.cpp)
set_source_files_properties(${report}/Assets.S TARGET_DIRECTORY HybridRuntime PROPERTIES
  OBJECT_DEPENDS "${report_assets}"
  COMPILE_DEFINITIONS "HYBRID_REPORT_PAGE=\"${report}/assets/page.html\";HYBRID_REPORT_STYLE=\"${report}/assets/report.css\";HYBRID_REPORT_SCRIPT=\"${report}/assets/report.js\"")
# The page allows this one script, by its hash, and none that a name might smuggle in.
file(SHA256 ${report}/assets/report.js report_script_hash)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${report}/assets/report.js)
set_source_files_properties(${report}/Page.cpp TARGET_DIRECTORY HybridRuntime PROPERTIES
  COMPILE_DEFINITIONS HYBRID_REPORT_SCRIPT_SHA256="${report_script_hash}")
