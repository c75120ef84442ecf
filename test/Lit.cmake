# lit through ctest: one entry a folder, so that a failure names the part that broke.
#
# A folder becomes an entry when it holds a test; a new file in a known folder needs no new configure.
set(HYBRID_LIT ${HYBRID_LLVM_PREFIX}/bin/lit)
if(NOT EXISTS ${HYBRID_LIT})
  message(FATAL_ERROR "lit is not at ${HYBRID_LIT}: install llvm-22-tools (tools/install-dependencies)")
endif()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/lit.site.cfg.py.in
               ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py @ONLY)

set(lit_folders dialect passes frontends codegen tools models)
foreach(folder ${lit_folders})
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS
       ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.mlir
       ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.hyb
       ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.test)
  if(tests)
    add_test(NAME lit-${folder}
             COMMAND ${HYBRID_LIT} -sv ${CMAKE_CURRENT_BINARY_DIR}/${folder})
    # Each entry already uses every core.
    set_tests_properties(lit-${folder} PROPERTIES LABELS lit RUN_SERIAL ON)
  endif()
endforeach()
