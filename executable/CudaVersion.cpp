//===- CudaVersion.cpp - which drivers load the code that a toolkit made ----===//
#include "executable/CudaVersion.h"

namespace hybrid {

std::string driverText(uint32_t version) {
  static constexpr struct {
    uint32_t version;
    int branch;
  } branches[] = {{cudaVersion(12, 0), 525}, {cudaVersion(12, 1), 530}, {cudaVersion(12, 2), 535},
                  {cudaVersion(12, 3), 545}, {cudaVersion(12, 4), 550}, {cudaVersion(12, 5), 555},
                  {cudaVersion(12, 6), 560}, {cudaVersion(12, 8), 570}, {cudaVersion(12, 9), 575},
                  {cudaVersion(13, 0), 580}, {cudaVersion(13, 1), 590}};
  std::string text = "CUDA " + cudaVersionText(version);
  for (auto [known, branch] : branches)
    if (known == version)
      text += " (" + std::to_string(branch) + " or later)";
  return text;
}

} // namespace hybrid
