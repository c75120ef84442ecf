# Searching a space of architectures.
target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/lab/search/Halving.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/search/Pareto.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/search/Points.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/search/Search.cpp
  ${PROJECT_SOURCE_DIR}/runtime/lab/search/Space.cpp)
