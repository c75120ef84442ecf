# The laboratory: studies of architectures on suites of tasks.
find_path(HYBRID_SQLITE_INCLUDE sqlite3.h REQUIRED)
find_library(HYBRID_SQLITE_LIBRARY NAMES sqlite3 REQUIRED)
target_include_directories(HybridRuntime SYSTEM PRIVATE ${HYBRID_SQLITE_INCLUDE})
target_link_libraries(HybridRuntime PRIVATE ${HYBRID_SQLITE_LIBRARY})
target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/lab/Columns.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Database.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/IsoCheck.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Protocol.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/RunStore.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Schema.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Scores.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Suite.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Table.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/TrainRuns.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/Worker.cpp)
include(${PROJECT_SOURCE_DIR}/runtime/lab/report/Sources.cmake)
