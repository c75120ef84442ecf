# Every example in the README and the book is compiled.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME docs-examples COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/check-examples.py
                                    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/hybridc)
set_tests_properties(docs-examples PROPERTIES LABELS docs)
# The page "Add an op" shows the files of its example; `tools/check --long` also builds and tests it.
add_test(NAME docs-own-op COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/own-op.py)
set_tests_properties(docs-own-op PROPERTIES LABELS docs)
