target_sources(HybridRuntime PRIVATE
  ${PROJECT_SOURCE_DIR}/runtime/train/Checkpoint.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Evaluate.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Events.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Progress.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/RunFolder.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/RunRecord.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Sampler.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Schedule.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/SessionRunner.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Signals.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Source.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/Trainer.cpp
  ${PROJECT_SOURCE_DIR}/runtime/train/TrainingRun.cpp)
