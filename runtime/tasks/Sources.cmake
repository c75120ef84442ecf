target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Parameters.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Recall.cpp
  ${PROJECT_SOURCE_DIR}/runtime/tasks/Task.cpp)
