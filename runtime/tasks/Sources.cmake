target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Arithmetic.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/AssociativeRecall.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Compression.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Counting.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/FuzzyRecall.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/InductionHeads.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/KeyValues.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/LinearFunctions.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Majority.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/MambaSelectiveCopying.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Memorization.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Parameters.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Recall.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/SelectiveCopying.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Statistics.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Task.cpp)
