# Models in other programs' layouts. Tiny ones are made by the test, or by transformers (exchange/make-hf-models.py); the cases of hf_models lie beside the tree, or where
# HYBRID_HF_MODELS_DIR says. A folder that was asked for and is missing must fail, not skip.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME exchange-tiny-models COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/tiny-models.py
                                           --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(exchange-tiny-models PROPERTIES LABELS exchange TIMEOUT 900)
add_test(NAME exchange-hf-families COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/run --verbose
                                           --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --cases ${CMAKE_CURRENT_SOURCE_DIR}/exchange/models)
set_tests_properties(exchange-hf-families PROPERTIES LABELS exchange TIMEOUT 1800)
set(hf_models ${PROJECT_SOURCE_DIR}/../shared/hf_models)
if(NOT "$ENV{HYBRID_HF_MODELS_DIR}" STREQUAL "")
  string(REPLACE ":" ";--cases;" hf_models "$ENV{HYBRID_HF_MODELS_DIR}")
elseif(NOT EXISTS ${hf_models})
  message(STATUS "Models in Hugging Face's layout: no folder ${hf_models} and HYBRID_HF_MODELS_DIR is not set: exchange-hf is left out")
  set(hf_models)
endif()
if(hf_models)
  add_test(NAME exchange-hf COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/run --verbose
                                    --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --cases ${hf_models})
  set_tests_properties(exchange-hf PROPERTIES LABELS exchange TIMEOUT 1800)
endif()

# ONNX models in: our own exports again, and PyTorch's. A few of the models at once, all of them in the long configuration.
set(onnx_again ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/onnx-again --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(onnx_models)
foreach(model mad/attention-moe mad/gated-deltanet-swiglu mad/hyena-experts-swiglu mad/rwkv)
  list(APPEND onnx_models ${PROJECT_SOURCE_DIR}/models/${model}.hyb)
endforeach()
add_test(NAME exchange-onnx-again COMMAND ${onnx_again} --torch ${onnx_models})
add_test(NAME exchange-onnx-again-27 COMMAND ${onnx_again} --opset 27 ${PROJECT_SOURCE_DIR}/models/mad/gated-deltanet-swiglu.hyb
                                             ${PROJECT_SOURCE_DIR}/models/mad/sliding-attention-swiglu.hyb)
add_test(NAME exchange-onnx-again-long COMMAND ${onnx_again} CONFIGURATIONS Long)
add_test(NAME exchange-onnx-again-27-long COMMAND ${onnx_again} --opset 27 CONFIGURATIONS Long)
add_test(NAME exchange-onnx-refused COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/onnx-refused --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
add_test(NAME exchange-onnx-values COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/onnx-values --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(exchange-onnx-refused exchange-onnx-values exchange-onnx-again exchange-onnx-again-27 exchange-onnx-again-long exchange-onnx-again-27-long PROPERTIES LABELS exchange TIMEOUT 1800)

# Exports as ONNX in ONNX Runtime. Debian has no usable packages of it; HYBRID_ONNX_PYTHON may name a Python that has them.
set(onnx_python ${Python3_EXECUTABLE})
if(NOT "$ENV{HYBRID_ONNX_PYTHON}" STREQUAL "")
  set(onnx_python $ENV{HYBRID_ONNX_PYTHON})
endif()
execute_process(COMMAND ${onnx_python} -c "import numpy, onnx, onnxruntime" RESULT_VARIABLE onnx_missing OUTPUT_QUIET ERROR_QUIET)
if(NOT onnx_missing)
  add_test(NAME exchange-onnx COMMAND ${onnx_python} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/onnx --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(exchange-onnx PROPERTIES LABELS exchange TIMEOUT 1800)
elseif(NOT "$ENV{HYBRID_ONNX_PYTHON}" STREQUAL "")
  message(FATAL_ERROR "HYBRID_ONNX_PYTHON is '${onnx_python}', which has not all of the packages numpy, onnx and onnxruntime")
else()
  message(STATUS "ONNX: ${onnx_python} has no onnx and onnxruntime and HYBRID_ONNX_PYTHON is not set: exchange-onnx is left out")
endif()

# lm-evaluation-harness, of PyPI alone: HYBRID_HARNESS_PYTHON names a Python that has lm-eval[api].
if(NOT "$ENV{HYBRID_HARNESS_PYTHON}" STREQUAL "")
  add_test(NAME exchange-harness COMMAND $ENV{HYBRID_HARNESS_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/harness --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(exchange-harness PROPERTIES LABELS exchange TIMEOUT 900)
else()
  message(STATUS "lm-evaluation-harness: HYBRID_HARNESS_PYTHON is not set: exchange-harness is left out")
endif()
