#include "codegen/cpu/kernels/Kernels.h"
