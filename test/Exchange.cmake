# Models in other programs' layouts. Tiny ones are made by the test; the cases of hf_models lie beside the tree, or where
# HYBRID_HF_MODELS_DIR says. A folder that was asked for and is missing must fail, not skip.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME exchange-tiny-models COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exchange/tiny-models.py
                                           --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(exchange-tiny-models PROPERTIES LABELS exchange TIMEOUT 900)
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
