/* Kernels for the runtime's tests, in the form of the kernels inside an executable. */
typedef long long Index;

void add_one(Index lo, Index hi, void *const *buffers, void *scratch) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (Index i = lo; i < hi; ++i)
    y[i] = x[i] + 1.0f;
}

/* y[i] = the table's entry for i, through this thread's scratch memory. */
void look_up(Index lo, Index hi, void *const *buffers, void *scratch) {
  const float *table = buffers[0];
  float *y = buffers[1], *own = scratch;
  for (Index i = lo; i < hi; ++i) {
    own[i % 16] = table[i];
    y[i] = own[i % 16];
  }
}

void fill_table(Index lo, Index hi, void *const *buffers, void *scratch) {
  float *table = buffers[0];
  for (Index i = lo; i < hi; ++i)
    table[i] = (float)(10 * i);
}

/* parameter[i] = low word of the seed + i * high word. */
void draw(Index lo, Index hi, void *const *buffers, void *scratch) {
  const int *seed = buffers[0];
  float *parameter = buffers[1];
  for (Index i = lo; i < hi; ++i)
    parameter[i] = (float)(seed[0] + i * seed[1]);
}

/* y = 1 / x: infinite where x is 0. */
void invert(Index lo, Index hi, void *const *buffers, void *scratch) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (Index i = lo; i < hi; ++i)
    y[i] = 1.0f / x[i];
}

/* Copies by index into a place that may overlap what is already used: memory reuse of the arena. */
void copy(Index lo, Index hi, void *const *buffers, void *scratch) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (Index i = lo; i < hi; ++i)
    y[i] = x[i];
}

/* A crude optimizer: parameter, gradient and moment move by the learning rate. */
void step(Index lo, Index hi, void *const *buffers, void *scratch) {
  const double *hyper = buffers[0];
  float *parameter = buffers[1], *gradient = buffers[2], *moment = buffers[3];
  for (Index i = lo; i < hi; ++i) {
    moment[i] += 1.0f;
    parameter[i] -= (float)hyper[0] * gradient[i];
  }
}
