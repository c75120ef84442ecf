# Every example in the README and the book is compiled.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs-examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/check-examples.py
                                    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/hybridc)
set_tests_properties(docs-examples PROPERTIES LABELS docs)
