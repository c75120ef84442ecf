/*===- CInterfaceTest.c - a model run and trained from C ----------------------===
 *
 *   usage: CInterfaceTest MODEL.hyx FORWARD_DIR REPLAY_DIR DECODING.hyx
 *          CInterfaceTest MODEL.hyx       a model that this user's key did not sign
 *
 * What `hybrid-run forward` and one step of `hybrid-run replay` left in the folders for the seed,
 * tokens and targets below (c-interface.sh) must come out of hybrid.h too, to the bit; and the
 * logits out of the same model compiled to decode, nearly.
 *===----------------------------------------------------------------------===*/
#include "runtime/hybrid.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rows = 2, length = 8, seed = 7 };
static const int32_t tokens[rows * length] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1};
static const int32_t targets[rows * length] = {2, 3, 4, 5, 6, 7, 8, 9, 7, 6, 5, 4, 3, 2, 1, 0};

static int failures = 0;

static void expect(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "FAILED: %s\n", what);
    ++failures;
  }
}

/* Ends the test when a call failed that must not. */
static void require(char *error) {
  if (!error)
    return;
  fprintf(stderr, "FAILED: %s\n", error);
  hybrid_error_free(error);
  exit(1);
}

/* That a call failed, and says these words. */
static void refused(char *error, const char *words) {
  if (!error || !strstr(error, words)) {
    fprintf(stderr, "FAILED: expected an error that says '%s', got '%s'\n", words,
            error ? error : "none");
    ++failures;
  }
  hybrid_error_free(error);
}

/* The bytes of FOLDER/PREFIX NAME.npy behind its header, which must be as many. */
static void *readArray(const char *folder, const char *prefix, const char *name, size_t bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s%s.npy", folder, prefix, name);
  FILE *file = fopen(path, "rb");
  unsigned char head[10];
  void *data = malloc(bytes);
  if (!file || fread(head, 1, sizeof head, file) != sizeof head ||
      fseek(file, head[8] + 256L * head[9], SEEK_CUR) != 0 ||
      fread(data, 1, bytes, file) != bytes || fgetc(file) != EOF) {
    fprintf(stderr, "FAILED: %s is not there, or not of %zu bytes\n", path, bytes);
    exit(1);
  }
  fclose(file);
  return data;
}

static void expectSame(const void *ours, const char *folder, const char *prefix, const char *name,
                       size_t bytes) {
  void *wanted = readArray(folder, prefix, name, bytes);
  expect(memcmp(ours, wanted, bytes) == 0, name);
  free(wanted);
}

/* A stranger's model can be looked at, and run only when that is asked for. */
static void checkTrust(const char *path) {
  hybrid_executable *model = NULL, *trusted = NULL;
  hybrid_device *device = NULL;
  hybrid_session *session = NULL;
  require(hybrid_executable_load(path, &model));
  require(hybrid_device_open("cpu", 1, &device));
  expect(hybrid_parameter_count(model) > 0, "a stranger's model is described");
  refused(hybrid_session_create(model, device, &session), "its machine code is not run");
  require(hybrid_executable_load_trusted(path, &trusted));
  require(hybrid_session_create(trusted, device, &session));
  require(hybrid_session_initialize(session, seed));
  hybrid_session_close(session);
  hybrid_executable_close(trusted);
  hybrid_executable_close(model);
  hybrid_device_close(device);
}

/* Whether the logits of each row are those of the forward program at the decoder's last token. */
static void expectLogits(hybrid_decoder *decoder, const float *wanted) {
  const size_t width = hybrid_decoder_vocabulary(decoder),
               at = hybrid_decoder_position(decoder) - 1;
  double *found = malloc(width * sizeof *found);
  for (size_t row = 0; row < rows; ++row) {
    require(hybrid_decoder_logits(decoder, row, found));
    for (size_t c = 0; c < width; ++c) {
      const double difference = found[c] - (double)wanted[(row * length + at) * width + c];
      expect(difference < 1e-4 && difference > -1e-4,
             "decoded logits are those of the forward program");
    }
  }
  free(found);
}

static void checkDecoding(const char *path, const char *forward) {
  hybrid_executable *model = NULL;
  hybrid_device *device = NULL;
  hybrid_session *session = NULL;
  hybrid_decoder *decoder = NULL;
  require(hybrid_executable_load(path, &model));
  require(hybrid_device_open("cpu", 1, &device));
  require(hybrid_session_create(model, device, &session));
  require(hybrid_session_initialize(session, seed));
  require(hybrid_decoder_create(session, &decoder));
  expect(hybrid_decoder_rows(decoder) == rows, "as many rows as were compiled for");
  const size_t bytes = rows * length * hybrid_decoder_vocabulary(decoder) * sizeof(float);
  float *wanted = readArray(forward, "output.", "logits", bytes);
  require(hybrid_decoder_remember(decoder, length));
  for (size_t t = 0; t < length; ++t) {
    const int32_t next[rows] = {tokens[t], tokens[length + t]};
    require(hybrid_decoder_take(decoder, next, 1));
    expectLogits(decoder, wanted);
  }
  require(hybrid_decoder_take_back(decoder, 3));
  expect(hybrid_decoder_position(decoder) == length - 3, "tokens were taken back");
  expectLogits(decoder, wanted);
  refused(hybrid_decoder_take_back(decoder, length), "cannot be taken back");
  require(hybrid_decoder_restart(decoder));
  require(hybrid_decoder_take(decoder, tokens, length));
  expectLogits(decoder, wanted);
  const int32_t strange[rows] = {1, -7};
  refused(hybrid_decoder_take(decoder, strange, 1), "token 1 is -7, expected 0 to ");
  free(wanted);
  hybrid_decoder_close(decoder);
  hybrid_session_close(session);
  hybrid_device_close(device);
  hybrid_executable_close(model);
}

/* Several parameters at once: what is left out stays, and where one is refused, all are. `first` is
 * what the first one is, of `bytes` as `seen`. */
static void checkSlots(hybrid_session *session, size_t parameters, void *first, char *seen,
                       size_t bytes) {
  void **data = calloc(parameters + 1, sizeof *data);
  size_t *sizes = calloc(parameters + 1, sizeof *sizes);
  const void *const *given = (const void *const *)data;
  data[0] = seen, sizes[0] = bytes;
  memset(seen, 0, bytes);
  require(hybrid_slots_set(session, HYBRID_PARAMETER, given, sizes, parameters));
  memset(seen, 1, bytes);
  require(hybrid_slots_get(session, HYBRID_PARAMETER, data, sizes, parameters));
  expect(seen[0] == 0 && memcmp(seen, seen + 1, bytes - 1) == 0, "it is what it was set to");
  data[0] = first, data[1] = seen, sizes[1] = 1;
  refused(hybrid_slots_set(session, HYBRID_PARAMETER, given, sizes, 2), "but 1 are given");
  data[0] = seen, data[1] = NULL;
  memset(seen, 1, bytes);
  require(hybrid_slots_get(session, HYBRID_PARAMETER, data, sizes, parameters));
  expect(seen[0] == 0 && memcmp(seen, seen + 1, bytes - 1) == 0, "nothing was written");
  data[parameters] = seen;
  refused(hybrid_slots_get(session, HYBRID_PARAMETER, data, sizes, parameters + 1),
          "none of index");
  data[0] = first;
  require(hybrid_slots_set(session, HYBRID_PARAMETER, given, sizes, 1));
  free(data);
  free(sizes);
}

/* "vjp" in two parts gives what it gives in one, on memory that is used where it lies and on memory
 * that is copied, and waits for nobody else's. */
static void checkPause(const hybrid_executable *model, hybrid_session *session,
                       const hybrid_tensor *tokens, const hybrid_tensor *logits) {
  expect(hybrid_program_pauses(model, "vjp"), "vjp pauses");
  expect(!hybrid_program_pauses(model, "forward"), "forward does not");
  hybrid_tensor_info info;
  require(hybrid_parameter_info(model, 0, &info));
  void *wanted = malloc(info.bytes), *found = malloc(info.bytes);
  const size_t room = (logits->bytes + 127) / 64 * 64;
  char *memory = aligned_alloc(64, 2 * room);
  for (size_t i = 0; i < logits->bytes / sizeof(float); ++i)
    ((float *)memory)[i] = (float)(i % 7) - 3;
  hybrid_tensor whole[2] = {*tokens, {"cotangent.logits", memory, logits->bytes}};
  require(hybrid_session_run(session, "vjp", whole, 2, NULL, 0));
  require(hybrid_slot_get(session, HYBRID_GRADIENT, 0, wanted, info.bytes));
  for (size_t shift = 0; shift <= 4; shift += 4) {
    hybrid_tensor output = {"logits", memory + room + shift, logits->bytes};
    memset(output.data, 0, output.bytes);
    require(hybrid_session_run_to_pause(session, "vjp", tokens, 1, &output, 1));
    expect(memcmp(output.data, logits->data, logits->bytes) == 0, "outputs are there at the pause");
    memset(output.data, 0, output.bytes);
    require(hybrid_session_resume(session, "vjp", whole + 1, 1, NULL, 0));
    require(hybrid_slot_get(session, HYBRID_GRADIENT, 0, found, info.bytes));
    expect(memcmp(found, wanted, info.bytes) == 0, "gradients in two parts are those of one");
  }
  refused(hybrid_session_resume(session, "vjp", whole + 1, 1, NULL, 0), "does not wait");
  require(hybrid_session_run_to_pause(session, "vjp", tokens, 1, NULL, 0));
  require(hybrid_session_run(session, "forward", tokens, 1, NULL, 0));
  refused(hybrid_session_resume(session, "vjp", whole + 1, 1, NULL, 0), "another run was there");
  refused(hybrid_session_run_to_pause(session, "vjp", whole, 2, NULL, 0), "before its pause");
  refused(hybrid_session_run_to_pause(session, "forward", tokens, 1, NULL, 0), "does not pause");
  free(wanted);
  free(found);
  free(memory);
}

int main(int count, char **arguments) {
  if (count == 2) {
    checkTrust(arguments[1]);
    return failures != 0;
  }
  if (count != 5) {
    fprintf(stderr, "usage: CInterfaceTest MODEL.hyx FORWARD_DIR REPLAY_DIR DECODING.hyx\n");
    return 2;
  }
  checkDecoding(arguments[4], arguments[2]);
  const char *forward = arguments[2], *replay = arguments[3];
  expect(hybrid_api_version() == HYBRID_API_VERSION, "the header is the library's");

  hybrid_executable *model = NULL;
  refused(hybrid_executable_load("nowhere.hyx", &model), "nowhere.hyx");
  expect(model == NULL, "nothing is written by what fails");
  require(hybrid_executable_load(arguments[1], &model));
  expect(strcmp(hybrid_executable_device(model), "cpu") == 0, "compiled for the CPU");
  int trains = 0;
  for (size_t i = 0; i < hybrid_program_count(model); ++i)
    trains |= strcmp(hybrid_program_name(model, i), "train") == 0;
  expect(trains, "there is a program 'train'");
  expect(hybrid_program_name(model, 1000) == NULL, "there is no program 1000");

  hybrid_tensor_info logits, info;
  expect(hybrid_output_count(model, "forward") == 1, "one output");
  require(hybrid_output_info(model, "forward", 0, &logits));
  expect(strcmp(logits.name, "logits") == 0 && logits.type == HYBRID_F32 && logits.rank == 3 &&
             logits.shape[0] == rows && logits.shape[1] == length,
         "logits [rows, length, classes]");
  expect(hybrid_input_count(model, "forward") == 1, "one input");
  require(hybrid_input_info(model, "forward", 0, &info));
  expect(strcmp(info.name, "tokens") == 0 && info.type == HYBRID_I32 && info.bytes == sizeof tokens,
         "tokens");
  expect(hybrid_input_count(model, "backward") == 0, "no such program has inputs");
  refused(hybrid_input_info(model, "backward", 0, &info), "no program 'backward'");
  refused(hybrid_input_info(model, "forward", 1, &info), "1 inputs");

  hybrid_device *device = NULL;
  refused(hybrid_device_open("abacus", 0, &device), "expected cpu or cuda");
  require(hybrid_device_open("cpu", 1, &device));
  hybrid_session *session = NULL;
  require(hybrid_session_create(model, device, &session));
  require(hybrid_session_initialize(session, seed));

  /* Outputs. */
  hybrid_tensor inputs[2] = {{"tokens", (void *)tokens, sizeof tokens},
                             {"targets", (void *)targets, sizeof targets}};
  hybrid_tensor output = {"logits", malloc(logits.bytes), logits.bytes};
  require(hybrid_session_run(session, "forward", inputs, 1, &output, 1));
  expectSame(output.data, forward, "output.", "logits", logits.bytes);
  refused(hybrid_session_run(session, "forward", inputs, 0, &output, 1), "'tokens' [2, 8]");
  refused(hybrid_session_run(session, "forward", inputs, 2, &output, 1), "no input 'targets'");
  refused(hybrid_session_run(session, "backward", inputs, 1, NULL, 0), "no program 'backward'");
  const int32_t strange[rows * length] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 777};
  const hybrid_tensor wrong = {"tokens", (void *)strange, sizeof strange};
  refused(hybrid_session_run(session, "forward", &wrong, 1, &output, 1),
          "'tokens' holds the id 777 at [1, 2], expected 0 to ");
  checkPause(model, session, inputs, &output);
  output.bytes = 4;
  refused(hybrid_session_run(session, "forward", inputs, 1, &output, 1), "but 4 are given");
  free(output.data);

  /* Parameters. */
  size_t parameters = hybrid_parameter_count(model);
  expect(parameters > 0, "there are parameters");
  require(hybrid_parameter_info(model, 0, &info));
  void *first = malloc(info.bytes), *changed = calloc(1, info.bytes), *seen = malloc(info.bytes);
  require(hybrid_parameter_get(session, 0, first, info.bytes));
  require(hybrid_parameter_set(session, 0, changed, info.bytes));
  require(hybrid_parameter_get(session, 0, seen, info.bytes));
  expect(memcmp(seen, changed, info.bytes) == 0, "a parameter is what it was set to");
  require(hybrid_parameter_set(session, 0, first, info.bytes));
  refused(hybrid_parameter_get(session, 0, seen, 1), "but 1 are given");
  refused(hybrid_parameter_get(session, parameters, seen, 1), "none of index");
  refused(hybrid_parameter_info(model, parameters, &info), "none of index");
  expect(hybrid_parameter_is_trained(model, 0), "it is trained");
  expect(!hybrid_parameter_is_trained(model, parameters), "what is not there is not trained");
  require(hybrid_slot_set(session, HYBRID_MOMENT2, 0, first, info.bytes));
  require(hybrid_slot_get(session, HYBRID_MOMENT2, 0, seen, info.bytes));
  expect(memcmp(seen, first, info.bytes) == 0, "a moment is what it was set to");
  require(hybrid_slot_get(session, HYBRID_MOMENT1, 0, seen, info.bytes));
  expect(memcmp(seen, changed, info.bytes) == 0, "the other is zero");
  require(hybrid_slot_set(session, HYBRID_MOMENT2, 0, changed, info.bytes));
  refused(hybrid_slot_get(session, (hybrid_slot)9, 0, seen, info.bytes), "9 is no slot");
  checkSlots(session, parameters, first, seen, info.bytes);
  free(first);
  free(changed);
  free(seen);

  /* A step of training; closed early, the executable stays for its session. */
  hybrid_hyper hyper = {.learning_rate = 1e-2,
                        .weight_decay = 0.1,
                        .beta1 = 0.9,
                        .beta2 = 0.98,
                        .epsilon = 1e-8,
                        .step = 1};
  double loss = 0;
  refused(hybrid_session_train_step(session, inputs, 1, &hyper, &loss), "'targets' [2, 8]");
  require(hybrid_session_train_step(session, inputs, 2, &hyper, &loss));
  expectSame(&loss, replay, "", "loss", sizeof loss);
  for (size_t i = 0; i < parameters; ++i) {
    require(hybrid_parameter_info(model, i, &info));
    void *trained = malloc(info.bytes);
    require(hybrid_parameter_get(session, i, trained, info.bytes));
    expectSame(trained, replay, "final.", info.name, info.bytes);
    free(trained);
  }
  hybrid_device_close(device);
  hybrid_executable_close(model);
  require(hybrid_session_train_step(session, inputs, 2, &hyper, NULL));
  hybrid_session_close(session);
  hybrid_session_close(NULL);
  if (!failures)
    puts("the C interface does what hybrid-run does");
  return failures != 0;
}
