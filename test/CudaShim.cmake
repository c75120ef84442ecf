# What runs on the CPU target runs on CUDA's kernels too, without a GPU: compiled for the tests' driver
# (test/cuda/shim), which the runtime opens in place of NVIDIA's.
if(NOT TARGET HybridCudaShimDriver)
  message(STATUS "CUDA without a GPU: the tests' driver is not built, so its tests are left out")
  return()
endif()
set(shim_environment HYBRID_TEST_TARGET=cuda:shim HYBRID_CUDA_DRIVER=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUBLASLT=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUDNN=$<TARGET_FILE:HybridCudaShimDriver>)
function(hybrid_cuda_shim_test name)
  add_test(NAME cuda-shim-${name} COMMAND ${ARGN})
  set_tests_properties(cuda-shim-${name} PROPERTIES LABELS cuda-shim TIMEOUT 1200 ENVIRONMENT "${shim_environment}")
endfunction()
hybrid_cuda_shim_test(gradients GradientTests)
hybrid_cuda_shim_test(states StateTests)
hybrid_cuda_shim_test(lock-step LockStepTests)
hybrid_cuda_shim_test(replicas ReplicaTests --gtest_filter=*/0:*/2:*/3)
if(TEST golden)
  hybrid_cuda_shim_test(golden ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run
                        --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --target cuda:shim --verbose)
  # Operands of matrix units rounded to bf16, in kernels of our own and in library products.
  hybrid_cuda_shim_test(golden-bf16 ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run
                        --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --target cuda:shim --precision bf16 --verbose)
  # The same attention by the tests' cuDNN.
  hybrid_cuda_shim_test(golden-cudnn ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/run
                        --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --target cuda:shim --precision bf16 --attention cudnn --verbose
                        --op attention --op language_model)
  set_tests_properties(cuda-shim-golden cuda-shim-golden-bf16 cuda-shim-golden-cudnn PROPERTIES RUN_SERIAL ON)
endif()
# What kernels take of a GPU's multiprocessors; NVRTC needs no GPU for it.
# Found as hybridc finds it: beside nvcc, or where CUDA_HOME says.
find_program(HYBRID_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin)
if(HYBRID_NVCC)
  add_test(NAME cuda-budgets COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-budgets.py
           $<TARGET_FILE:hybridc> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/budgets.json)
  # One of every variant of every kernel compiles within its budget; of those in golden cases too, where they are.
  set(golden_cases)
  if(NOT "$ENV{HYBRID_GOLDEN_DIR}" STREQUAL "")
    set(golden_cases "--cases=$ENV{HYBRID_GOLDEN_DIR}")
  elseif(EXISTS ${golden_default})
    set(golden_cases "--cases=${golden_default}")
  endif()
  add_test(NAME cuda-variants COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-variants.py
           $<TARGET_FILE:hybridc> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/variants ${golden_cases})
  set_tests_properties(cuda-budgets cuda-variants PROPERTIES LABELS cuda RUN_SERIAL ON TIMEOUT 900)
  # What NVRTC makes of the kernels, run and watched by the PTX machine (test/cuda/ptx). `ctest -C Long` runs the rest.
  function(hybrid_ptx_test name version)
    add_test(NAME ptx-${name} ${ARGN})
    set_tests_properties(ptx-${name} PROPERTIES LABELS ptx TIMEOUT 1800 ENVIRONMENT
      "${shim_environment};HYBRID_TEST_TARGET=cuda:compute_${version}0;HYBRID_SHIM_DEVICE=${version}.0")
  endfunction()
  set(ptx_models ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-ptx.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${PROJECT_SOURCE_DIR})
  set(ptx_golden ${CMAKE_CURRENT_SOURCE_DIR}/golden/run --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --verbose)
  hybrid_ptx_test(gradients 9 COMMAND GradientTests)
  hybrid_ptx_test(models 9 COMMAND ${Python3_EXECUTABLE} ${ptx_models})
  hybrid_ptx_test(models-long 9 COMMAND ${Python3_EXECUTABLE} ${ptx_models} --long CONFIGURATIONS Long)
  hybrid_ptx_test(models-sm80 8 COMMAND ${Python3_EXECUTABLE} ${ptx_models} CONFIGURATIONS Long)
  if(TEST golden)
    hybrid_ptx_test(golden 9 COMMAND ${Python3_EXECUTABLE} ${ptx_golden} --target cuda:compute_90 --precision f32,bf16)
    hybrid_ptx_test(golden-f64 9 COMMAND ${Python3_EXECUTABLE} ${ptx_golden} --target cuda:compute_90 --precision f64
                    CONFIGURATIONS Long)
  endif()
else()
  message(STATUS "CUDA without a toolkit: neither variants nor budgets of kernels are checked")
endif()
