# tools/gpu-check against the tests' CUDA driver.
if(TARGET HybridCudaShimDriver)
  add_test(NAME gpu-check COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/gpu-check.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                                  $<TARGET_FILE:HybridCudaShimDriver>)
  set_tests_properties(gpu-check PROPERTIES LABELS cuda-shim TIMEOUT 300)
endif()
