# tools/gpu-check against the tests' CUDA driver.
if(TARGET HybridCudaShimDriver)
  add_test(NAME gpu-check COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/gpu-check.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                  $<TARGET_FILE:HybridCudaShimDriver>)
  # What it packs, where there is nothing but the libraries of a system: of this one, and of others, which apt fetches.
  add_test(NAME gpu-check-roots COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/roots.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                        $<TARGET_FILE:HybridCudaShimDriver>)
  add_test(NAME gpu-check-other-roots COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/roots.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                              $<TARGET_FILE:HybridCudaShimDriver> --suites bullseye,trixie CONFIGURATIONS Long)
  set_tests_properties(gpu-check gpu-check-roots gpu-check-other-roots PROPERTIES LABELS cuda-shim TIMEOUT 300)
endif()
