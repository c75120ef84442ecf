#include "dialect/HybridOps.h"
