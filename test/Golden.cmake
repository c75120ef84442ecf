# The golden cases through ctest. A folder that was asked for and is missing must fail, not skip: the test is
# registered whenever HYBRID_GOLDEN_DIR is set, and the runner reports what is wrong with it.
set(golden_default ${PROJECT_SOURCE_DIR}/../shared/golden)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME golden-variants COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/variants.py
                                      --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(golden-variants PROPERTIES LABELS golden TIMEOUT 300)
if(NOT "$ENV{HYBRID_GOLDEN_DIR}" STREQUAL "" OR EXISTS ${golden_default})
  add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run
                               --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --verbose)
  set_tests_properties(golden PROPERTIES LABELS golden TIMEOUT 1200 RUN_SERIAL ON)
else()
  message(STATUS "Golden cases: no folder ${golden_default} and HYBRID_GOLDEN_DIR is not set: the golden test is left out")
endif()
