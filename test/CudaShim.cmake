# What runs on the CPU target runs on CUDA's kernels too, without a GPU: compiled for the tests' driver
# (test/cuda/shim), which the runtime opens in place of NVIDIA's.
if(NOT TARGET HybridCudaShimDriver)
  message(STATUS "CUDA without a GPU: the tests' driver is not built, so its tests are left out")
  return()
endif()
set(shim_environment HYBRID_TEST_TARGET=cuda:shim HYBRID_CUDA_DRIVER=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUBLASLT=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUDNN=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUFFT=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_NCCL=$<TARGET_FILE:HybridCudaShimDriver>
                     HYBRID_CUDA_CAPTURE=1) # graphs, which the driver runs in orders that their edges allow
function(hybrid_cuda_shim_test name)
  add_test(NAME cuda-shim-${name} COMMAND ${ARGN})
  set_tests_properties(cuda-shim-${name} PROPERTIES LABELS cuda-shim TIMEOUT 1200 ENVIRONMENT "${shim_environment}")
endfunction()
hybrid_cuda_shim_test(gradients GradientTests)
# Transforms of every length, and convolutions as transforms, by the tests' cuFFT.
foreach(op rfft irfft fftconv)
  hybrid_cuda_shim_test(cufft-${op} GradientTests --gtest_filter=*.${op})
  set_property(TEST cuda-shim-cufft-${op} APPEND PROPERTY ENVIRONMENT HYBRID_TEST_TRANSFORMS=cufft)
endforeach()
# Products that our kernel computes, by the tests' cuBLASLt.
foreach(op linear matmul)
  hybrid_cuda_shim_test(cublaslt-${op} GradientTests --gtest_filter=*.${op})
  set_property(TEST cuda-shim-cublaslt-${op} APPEND PROPERTY ENVIRONMENT HYBRID_TEST_PRODUCTS=cublaslt)
endforeach()
hybrid_cuda_shim_test(states StateTests)
hybrid_cuda_shim_test(states-long StateTests --all-lengths CONFIGURATIONS Long)
hybrid_cuda_shim_test(decoding DecodeTests)
# Models of drawn sizes.
set(devices ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/properties/devices.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${PROJECT_SOURCE_DIR}/models)
hybrid_cuda_shim_test(devices ${devices}/mad 8)
hybrid_cuda_shim_test(devices-long ${devices} 40 2 CONFIGURATIONS Long)
set_tests_properties(cuda-shim-devices-long PROPERTIES TIMEOUT 7200)
hybrid_cuda_shim_test(lock-step LockStepTests)
# Activations in bf16 keep outputs and gradients near those of f32.
set(bf16_run ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/models/bf16.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
             ${PROJECT_SOURCE_DIR}/models/mad cuda:shim)
hybrid_cuda_shim_test(bf16 ${bf16_run})
hybrid_cuda_shim_test(bf16-long ${bf16_run} --long CONFIGURATIONS Long)
hybrid_cuda_shim_test(replicas ReplicaTests --gtest_filter=*/0:*/2:*/3)
# Ranks, each with a device of the tests' driver, over its NCCL.
set(ranks ${CMAKE_COMMAND} -E env HYBRID_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/ranks.py)
hybrid_cuda_shim_test(ranks-equal ${ranks} equal --quick attention-swiglu)
hybrid_cuda_shim_test(ranks-parts ${ranks} parts --quick striped-mamba-swiglu)
# Gradients of two and three weights that are one product, and of experts, which are not.
hybrid_cuda_shim_test(ranks-bf16 ${ranks} bf16 --quick attention-swiglu gated-linear-attention-swiglu attention-moe)
hybrid_cuda_shim_test(ranks-equal-long ${ranks} equal --all CONFIGURATIONS Long)
hybrid_cuda_shim_test(ranks-parts-long ${ranks} parts --all CONFIGURATIONS Long)
hybrid_cuda_shim_test(ranks-bf16-long ${ranks} bf16 --all CONFIGURATIONS Long)
set_tests_properties(cuda-shim-ranks-equal cuda-shim-ranks-parts cuda-shim-ranks-bf16 cuda-shim-ranks-equal-long cuda-shim-ranks-parts-long
                     cuda-shim-ranks-bf16-long PROPERTIES RUN_SERIAL ON SKIP_RETURN_CODE 77 TIMEOUT 7200)
if(TEST golden)
  hybrid_cuda_shim_test(golden ${golden_run} ${golden_flags} --target cuda:shim)
  # Operands of matrix units rounded to bf16, in kernels of our own and in library products.
  hybrid_cuda_shim_test(golden-bf16 ${golden_run} ${golden_flags} --target cuda:shim --precision bf16)
  # The same attention by the tests' cuDNN.
  hybrid_cuda_shim_test(golden-cudnn ${golden_run} ${golden_flags} --target cuda:shim --precision bf16 --attention cudnn
                        --op attention --op language_model)
  # The same transforms, and convolutions as transforms, by the tests' cuFFT.
  hybrid_cuda_shim_test(golden-cufft ${golden_run} ${golden_flags} --target cuda:shim --transforms cufft
                        --op fftconv --op hyena --op hyena2d --op filter_fno --op filter_transfer_function --op s4_dplr_kernel)
  # The same products, all of them, by the tests' cuBLASLt.
  hybrid_cuda_shim_test(golden-cublaslt ${golden_run} ${golden_flags} --target cuda:shim --small-products cublaslt
                        --op language_model --op auto_encoder --op mamba --op multihead_hyena --op patch_embed_pool --op adamw_training)
  set_tests_properties(cuda-shim-golden cuda-shim-golden-bf16 cuda-shim-golden-cudnn cuda-shim-golden-cufft cuda-shim-golden-cublaslt PROPERTIES RUN_SERIAL ON)
endif()
if(TEST golden-modern)
  hybrid_cuda_shim_test(golden-modern ${golden_run} ${golden_modern_flags} --target cuda:shim --precision f32,f64,bf16)
  set_tests_properties(cuda-shim-golden-modern PROPERTIES RUN_SERIAL ON)
endif()
# To optimise the kernels of these takes longer than to run them.
foreach(name states states-long decoding devices devices-long bf16 bf16-long golden golden-bf16 golden-cudnn golden-cufft golden-cublaslt golden-modern)
  if(TEST cuda-shim-${name})
    set_property(TEST cuda-shim-${name} APPEND PROPERTY ENVIRONMENT HYBRID_SHIM_OPTIMIZE=0)
  endif()
endforeach()
# The model of performance on numbers by hand.
add_test(NAME performance-model COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/counts/model.py ${PROJECT_SOURCE_DIR})
set_tests_properties(performance-model PROPERTIES LABELS ptx)
# What kernels take of a GPU's multiprocessors; NVRTC needs no GPU for it.
# Found as hybridc finds it: beside nvcc, or where CUDA_HOME says.
find_program(HYBRID_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin)
if(HYBRID_NVCC)
  # One architecture of the two, at the sizes people train; `ctest -C Long` checks both, and more sizes. One of every
  # variant of every kernel compiles within its budget, for one architecture as well; of those in golden cases too,
  # where they are.
  set(budgets_run ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-budgets.py
      $<TARGET_FILE:hybridc> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/budgets.json)
  set(variants_run ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-variants.py
      $<TARGET_FILE:hybridc> ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/variants ${golden_flags})
  add_test(NAME cuda-budgets COMMAND ${budgets_run} --architecture sm_90a --quick)
  add_test(NAME cuda-variants COMMAND ${variants_run} --architecture sm_90a)
  add_test(NAME cuda-budgets-long COMMAND ${budgets_run} CONFIGURATIONS Long)
  add_test(NAME cuda-variants-long COMMAND ${variants_run} CONFIGURATIONS Long)
  set_tests_properties(cuda-budgets cuda-variants cuda-budgets-long cuda-variants-long
                       PROPERTIES LABELS cuda RUN_SERIAL ON TIMEOUT 900)
  # What the model of performance says: of known kernels beside published times, and of models beside budgets.
  set(predictions_run ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-predictions.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
      ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/predictions.json)
  add_test(NAME cuda-known-kernels COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/counts/known.py
           $<TARGET_FILE:hybrid-ptx-count> ${PROJECT_SOURCE_DIR})
  add_test(NAME cuda-predictions COMMAND ${predictions_run})
  set_tests_properties(cuda-known-kernels cuda-predictions PROPERTIES LABELS "cuda;ptx" TIMEOUT 3600)
  # The table of blocks that share a multiprocessor is what the assembler says: minutes.
  add_test(NAME cuda-resident-blocks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cuda/resident-blocks.py
           $<TARGET_FILE:hybridc> ${PROJECT_SOURCE_DIR} CONFIGURATIONS Long)
  add_test(NAME cuda-toolkits COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/toolkits.py
           ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:HybridCudaShimDriver>)
  set_tests_properties(cuda-resident-blocks cuda-toolkits PROPERTIES LABELS cuda TIMEOUT 1800)
  # What NVRTC makes of the kernels, run and watched by the PTX machine (test/cuda/ptx). `ctest -C Long` runs the rest.
  # `version`: compute capability, as an H100 runs it with what only GPUs of 9.0 have.
  function(hybrid_ptx_test name version)
    add_test(NAME ptx-${name} ${ARGN})
    string(REGEX MATCH "^[0-9]" major ${version})
    set_tests_properties(ptx-${name} PROPERTIES LABELS ptx TIMEOUT 1800 ENVIRONMENT
      "${shim_environment};HYBRID_TEST_TARGET=cuda:compute_${version};HYBRID_SHIM_DEVICE=${major}.0")
  endfunction()
  set(ptx_models ${CMAKE_CURRENT_SOURCE_DIR}/cuda/check-ptx.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${PROJECT_SOURCE_DIR})
  hybrid_ptx_test(gradients 90a COMMAND GradientTests --differences=16)
  hybrid_ptx_test(gradients-long 90a COMMAND GradientTests CONFIGURATIONS Long)
  hybrid_ptx_test(models 90a COMMAND ${Python3_EXECUTABLE} ${ptx_models})
  hybrid_ptx_test(models-long 90a COMMAND ${Python3_EXECUTABLE} ${ptx_models} --long CONFIGURATIONS Long)
  # Chains of products of many rows: by warpgroups, and without them as on later GPUs.
  foreach(version 90 90a)
    hybrid_ptx_test(chains-${version} ${version} COMMAND hybrid-run selftest --device cuda --target cuda:compute_${version}
                    --case swiglu_chained_beside_f32-bf16)
  endforeach()
  hybrid_ptx_test(models-sm80 80 COMMAND ${Python3_EXECUTABLE} ${ptx_models} CONFIGURATIONS Long)
  if(TEST golden)
    hybrid_ptx_test(golden 90a COMMAND ${golden_run} ${golden_flags} --target cuda:compute_90a --precision bf16 --first-of-op)
    hybrid_ptx_test(golden-long 90a COMMAND ${golden_run} ${golden_flags} --target cuda:compute_90a --precision f32,f64,bf16
                    CONFIGURATIONS Long)
  endif()
else()
  message(STATUS "CUDA without a toolkit: neither variants nor budgets of kernels are checked")
endif()
