/*===- hybrid.h - compiled models from C ------------------------------------===
 *
 * Loads a model that hybridc compiled (.hyx) and runs it: outputs, training steps, parameters.
 * Link libHybridRuntime; neither LLVM nor the CUDA toolkit is needed. Plain C11.
 *
 *   hybrid_executable *model;
 *   hybrid_device *device;
 *   hybrid_session *session;
 *   char *error = hybrid_executable_load("model.hyx", &model);
 *   if (!error) error = hybrid_device_open("cpu", 0, &device);
 *   if (!error) error = hybrid_session_create(model, device, &session);
 *   if (!error) error = hybrid_session_initialize(session, 1);
 *   hybrid_tensor in = {"tokens", tokens, sizeof tokens}, out = {"logits", logits, sizeof logits};
 *   if (!error) error = hybrid_session_run(session, "forward", &in, 1, &out, 1);
 *
 * Errors. A function that can fail returns NULL when it did what it says, and otherwise a sentence
 * for people, which the caller frees with hybrid_error_free(); what it would have written is then
 * as before. No exception and no signal leaves the library.
 *
 * Ownership. An executable and a device may be closed while sessions made from them live on.
 * Closing NULL does nothing. Names and shapes belong to the executable and live as long as it.
 *
 * Threads. A session is used by one thread at a time; all else by any number.
 *
 * Replicas. A session trains one model: an executable compiled with --ensemble is refused.
 *===----------------------------------------------------------------------===*/
#ifndef HYBRID_H
#define HYBRID_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Raised when this header changes so that callers must be compiled again. */
#define HYBRID_API_VERSION 1
/** HYBRID_API_VERSION of the library. */
int hybrid_api_version(void);

/** Of an error; NULL is allowed. */
void hybrid_error_free(char *error);

typedef struct hybrid_executable hybrid_executable;
typedef struct hybrid_device hybrid_device;
typedef struct hybrid_session hybrid_session;

/** Types of elements; bytes of one are 4, 8, 4 and 2. */
typedef enum hybrid_type {
  HYBRID_F32 = 0,
  HYBRID_F64 = 1,
  HYBRID_I32 = 2,
  HYBRID_BF16 = 3
} hybrid_type;

/** A parameter, or an input or output of a program. Elements lie row by row, the last dimension
 *  without gaps. */
typedef struct hybrid_tensor_info {
  const char *name;
  hybrid_type type;
  size_t rank;          /* dimensions; 0: a single number */
  const int64_t *shape; /* rank of them */
  size_t bytes;         /* of all elements */
} hybrid_tensor_info;

/*===-- executables -----------------------------------------------------------*/

/** Reads and verifies a file, without mapping its machine code. A session of it runs that code only
 *  when the user's own hybridc made it, a key of the administrator's signed it, or the user said
 *  `hybrid-run ... --trust` of it before. */
char *hybrid_executable_load(const char *path, hybrid_executable **executable);
/** The same for a file whose maker the caller trusts: its code can do all that this process can. */
char *hybrid_executable_load_trusted(const char *path, hybrid_executable **executable);
void hybrid_executable_close(hybrid_executable *executable);

/** What it was compiled for: "cpu" or "cuda". */
const char *hybrid_executable_device(const hybrid_executable *executable);

/** The parameters, in the order of the file; fails for an index that is none. */
size_t hybrid_parameter_count(const hybrid_executable *executable);
char *hybrid_parameter_info(const hybrid_executable *executable, size_t index,
                            hybrid_tensor_info *info);

/** 1 when training changes it: program "vjp" has its gradient; 0 when not, and of an index that is
 *  none. */
int hybrid_parameter_is_trained(const hybrid_executable *executable, size_t index);

/** The programs: "forward", "train", "update", "eval", ... NULL for an index that is none. */
size_t hybrid_program_count(const hybrid_executable *executable);
const char *hybrid_program_name(const hybrid_executable *executable, size_t index);

/** Inputs and outputs of a program; 0 of one that is not there. */
size_t hybrid_input_count(const hybrid_executable *executable, const char *program);
char *hybrid_input_info(const hybrid_executable *executable, const char *program, size_t index,
                        hybrid_tensor_info *info);
size_t hybrid_output_count(const hybrid_executable *executable, const char *program);
char *hybrid_output_info(const hybrid_executable *executable, const char *program, size_t index,
                         hybrid_tensor_info *info);

/*===-- devices ---------------------------------------------------------------*/

/** The device `kind`, "cpu" or "cuda"; fails when this machine has none. `threads` of the CPU,
 *  0: all that this process may use; a GPU takes no notice of it. */
char *hybrid_device_open(const char *kind, int threads, hybrid_device **device);
void hybrid_device_close(hybrid_device *device);

/*===-- sessions --------------------------------------------------------------*/

/** The model's memory on the device, parameters zero. Fails when the executable is for another
 *  device, and when memory is short. Memory for training comes with the first training step. */
char *hybrid_session_create(const hybrid_executable *executable, const hybrid_device *device,
                            hybrid_session **session);
void hybrid_session_close(hybrid_session *session);

/** Draws the parameters as the model says, and begins training anew. */
char *hybrid_session_initialize(hybrid_session *session, uint64_t seed);

/** Copies a parameter out or in; `bytes` is the size of `data` and must be the parameter's. */
char *hybrid_parameter_get(hybrid_session *session, size_t index, void *data, size_t bytes);
char *hybrid_parameter_set(hybrid_session *session, size_t index, const void *data, size_t bytes);

/** What a session keeps of a parameter: itself, its gradient of the last training step, and what
 * the optimizer remembers. */
typedef enum hybrid_slot {
  HYBRID_PARAMETER = 0,
  HYBRID_GRADIENT = 1,
  HYBRID_MOMENT1 = 2,
  HYBRID_MOMENT2 = 3
} hybrid_slot;

/** The same as the two above for any of these. Takes memory for training where there is none yet,
 *  which is zero. */
char *hybrid_slot_get(hybrid_session *session, hybrid_slot slot, size_t index, void *data,
                      size_t bytes);
char *hybrid_slot_set(hybrid_session *session, hybrid_slot slot, size_t index, const void *data,
                      size_t bytes);
/** The same for several: of the first `count` parameters those whose data is not NULL. */
char *hybrid_slots_get(hybrid_session *session, hybrid_slot slot, void *const *data,
                       const size_t *bytes, size_t count);
char *hybrid_slots_set(hybrid_session *session, hybrid_slot slot, const void *const *data,
                       const size_t *bytes, size_t count);

/** The caller's memory for an input or output of this name; `bytes` must be the tensor's. */
typedef struct hybrid_tensor {
  const char *name;
  void *data; /* of an input only read */
  size_t bytes;
} hybrid_tensor;

/** Runs a program with all its inputs, and writes the outputs asked for. An input that is not
 * given, a name that is none and an id that names nothing are errors. */
char *hybrid_session_run(hybrid_session *session, const char *program, const hybrid_tensor *inputs,
                         size_t input_count, const hybrid_tensor *outputs, size_t output_count);

/** 1 when the program can run in two parts: "vjp" makes the model's outputs, and waits for their
 *  cotangents. On the CPU; 0 of one that cannot or is not there. */
int hybrid_program_pauses(const hybrid_executable *executable, const char *program);
/** The first part: takes the inputs that are no cotangents, and writes the outputs asked for that
 * are no gradients. The inputs' memory stays as it is until the second part has run. Memory that
 * begins at 64 bytes is used where it lies, here and in the second part; other is copied. */
char *hybrid_session_run_to_pause(hybrid_session *session, const char *program,
                                  const hybrid_tensor *inputs, size_t input_count,
                                  const hybrid_tensor *outputs, size_t output_count);
/** The second part: takes the cotangents and writes the gradients asked for; those of parameters
 * are in their slots. Fails when anything else ran in this session since the first part. */
char *hybrid_session_resume(hybrid_session *session, const char *program,
                            const hybrid_tensor *inputs, size_t input_count,
                            const hybrid_tensor *outputs, size_t output_count);

/** What an AdamW update takes. */
typedef struct hybrid_hyper {
  double learning_rate, weight_decay, beta1, beta2, epsilon;
  double clip;  /* largest norm of the gradient; 0: any */
  int64_t step; /* from 1, counted by the caller: for the corrections of the moments */
} hybrid_hyper;

/** One training step: the gradients of program "train" for these inputs ("tokens", "targets"), then
 *  the update. `loss`, before the update, may be NULL. A loss that is not finite is an error, which
 *  names the operation it came from, and leaves the parameters as they are. */
char *hybrid_session_train_step(hybrid_session *session, const hybrid_tensor *inputs,
                                size_t input_count, const hybrid_hyper *hyper, double *loss);

/*===-- decoding ----------------------------------------------------------------*/

/** Sequences that are read token by token, by a session of an executable that hybridc --decode
 * made. Close it before the session, and run nothing else there meanwhile. */
typedef struct hybrid_decoder hybrid_decoder;

/** At the start of as many sequences as the executable has rows. Parameters must be there. */
char *hybrid_decoder_create(hybrid_session *session, hybrid_decoder **decoder);
void hybrid_decoder_close(hybrid_decoder *decoder);

/** Sequences side by side, logits of a token, and tokens of each sequence so far. */
size_t hybrid_decoder_rows(const hybrid_decoder *decoder);
size_t hybrid_decoder_vocabulary(const hybrid_decoder *decoder);
size_t hybrid_decoder_position(const hybrid_decoder *decoder);

/** Takes the next tokens: `count` of each row, those of a row behind one another. */
char *hybrid_decoder_take(hybrid_decoder *decoder, const int32_t *tokens, size_t count);
/** What a row expects behind its last token: hybrid_decoder_vocabulary() numbers. */
char *hybrid_decoder_logits(hybrid_decoder *decoder, size_t row, double *logits);

/** Back to the start; also to be called when parameters were changed. */
char *hybrid_decoder_restart(hybrid_decoder *decoder);
/** From here on up to `count` tokens of each row can be taken back; then takes some back. */
char *hybrid_decoder_remember(hybrid_decoder *decoder, size_t count);
char *hybrid_decoder_take_back(hybrid_decoder *decoder, size_t count);

#ifdef __cplusplus
}
#endif
#endif
