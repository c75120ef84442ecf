# What an installation has: the programs, the library of models, and the cases of `hybrid-run selftest`. A build folder
# is laid out in the same way, so that its programs find them.
set(selftest ${CMAKE_BINARY_DIR}/share/hybrid/selftest)
file(GLOB cases LIST_DIRECTORIES ON CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/laboratory/selftest/*-f32 ${PROJECT_SOURCE_DIR}/laboratory/selftest/*-bf16)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/golden/adapters/*.hyb)
file(REMOVE_RECURSE ${selftest})
file(COPY ${cases} DESTINATION ${selftest})
file(COPY ${pages} DESTINATION ${selftest}/models)
file(GLOB_RECURSE case_files ${PROJECT_SOURCE_DIR}/laboratory/selftest/*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages} ${case_files})

# Libraries are found where they were linked: LLVM lies outside of the loader's folders.
set_target_properties(hybrid-run hybrid-serve PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS hybrid-run hybrid-serve RUNTIME DESTINATION bin)
install(TARGETS HybridShared LIBRARY DESTINATION lib)
if(TARGET HybridMpi)  # of the machine's own MPI: no wheel carries it
  install(TARGETS HybridMpi LIBRARY DESTINATION lib COMPONENT ranks)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/runtime/hybrid.h DESTINATION include)
install(DIRECTORY ${selftest} DESTINATION share/hybrid)
if(HYBRID_BUILD_COMPILER)
  set_target_properties(hybridc hybrid-lsp PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS hybridc RUNTIME DESTINATION bin)
  install(TARGETS hybrid-lsp RUNTIME DESTINATION bin COMPONENT editor)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION share/hybrid FILES_MATCHING PATTERN *.hyb)
endif()
