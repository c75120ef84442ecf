# The Python package against the build's programs and library; it needs nothing but an interpreter.
foreach(part arrays models records notebook)
  add_test(NAME python-${part} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/python/${part}.py)
  set_tests_properties(python-${part} PROPERTIES LABELS python ENVIRONMENT
    "HYBRID_BUILD=${CMAKE_BINARY_DIR};XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/python/cache;XDG_CONFIG_HOME=${CMAKE_CURRENT_BINARY_DIR}/python/config")
endforeach()
