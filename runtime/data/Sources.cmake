target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/data/TextBytes.cpp)
