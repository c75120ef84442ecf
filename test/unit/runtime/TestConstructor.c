// Code that does something as soon as it is mapped: makes the file that HYBRID_TEST_MARK names.
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void mark(void) {
  const char *path = getenv("HYBRID_TEST_MARK");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (file)
    fclose(file);
}
