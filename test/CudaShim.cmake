# What runs on the CPU target runs on CUDA's kernels too, without a GPU: compiled for the tests' driver
# (codegen/cuda/shim), which the runtime opens in place of NVIDIA's.
if(NOT TARGET HybridCudaShimDriver)
  message(STATUS "CUDA without a GPU: the tests' driver is not built, so its tests are left out")
  return()
endif()
set(shim_environment HYBRID_TEST_TARGET=cuda:shim HYBRID_CUDA_DRIVER=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUBLASLT=$<TARGET_FILE:HybridCudaShimDriver>)
function(hybrid_cuda_shim_test name)
  add_test(NAME cuda-shim-${name} COMMAND ${ARGN})
  set_tests_properties(cuda-shim-${name} PROPERTIES LABELS cuda-shim TIMEOUT 1200 ENVIRONMENT "${shim_environment}")
endfunction()
hybrid_cuda_shim_test(gradients GradientTests)
hybrid_cuda_shim_test(states StateTests)
