//===- SelfTest.h - carried cases on this device ----------------------------------===//
//
// Numbers of another implementation, checked where the references are not. A case is a folder that
// `test/golden/run --prepare` writes:
//
//   case.json     {"name", "executable": "model.hyx", or to be compiled here for the device
//                  "model": {"file": "../models/op.hyb", "batch", "length", "precision", "set"},
//                  "parameters": "parameters.safetensors",
//                  "inputs": {NAME: FILE}, "cotangents": {OUTPUT: FILE},
//                  "expected": [{"tensor": "output.NAME" or "grad.NAME", "file": FILE,
//                                "rows": [FROM, TO], "tolerance", "size"}]}
//
// Or one that is compared with another way to compute it on the same device, at inputs and
// parameters that are drawn: then it has, in place of "parameters", "inputs", "cotangents" and
// "expected",
//
//   "device": "cuda",                          on which alone it runs
//   "reference": {"transforms": "cufft",       who computes Fourier transforms there; else our own
//                 "precision": "f32",          what it is compiled with there
//                 "executable": "other.hyx"},  where the case carries its own
//   "tolerance"
//
// It is left out, and said to be, where that library is not.
//
// The error of a tensor is ||ours - expected|| / size; rows are of its first dimension.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "runtime/Result.h"
#include <string>
#include <vector>

namespace hybrid::rt::lab {

struct SelfTestOptions {
  std::string device;            // refuse cases of another one; empty: any, and sources on the CPU
  std::string target;            // what models are compiled for here; empty: the device
  std::string cases;             // the folder of the cases; empty: those of the installation
  std::vector<std::string> only; // these cases; none: all
  int threads = 0;
  bool trust = false; // run their code whoever made it
  bool json = false;
};

/// Runs the cases and prints how far each is off; an error when one fails.
Result<void> runCases(const SelfTestOptions &options);

} // namespace hybrid::rt::lab
