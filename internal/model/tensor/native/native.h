// What the C++ files here offer to Go. A tensor is a torch::Tensor*, owned by the
// caller. Every function that can fail returns NULL, or a message to be freed.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

void redsi_set_num_threads(int n);
void redsi_adopt_num_threads(void);
void redsi_share_threads(int n); // what this thread takes of them; 0: all
int redsi_num_threads(void);
int redsi_same_for_any_threads(void);
int redsi_k_wide(void);
const char *redsi_version(void);
char *redsi_cpu_capability(void);

// Bytes of tensors on a CUDA device now, and the most so far; zeros before there was one.
char *redsi_card_memory(int device, int64_t *now, int64_t *most);
// Bytes of a CUDA device that nothing has, with what libtorch keeps for its own use, and all of them.
char *redsi_card_free(int device, int64_t *free, int64_t *total);

// n numbers in one transfer to a device, -1 being the CPU; asynchronous to a card, from pinned memory.
char *redsi_upload(void **out, const int64_t *numbers, int64_t n, int device);
// The same into a vector of int64 that is there.
char *redsi_upload_into(void *to, const int64_t *numbers, int64_t n);

// (residual or 0) + dropout(x).
char *redsi_dropout(void **out, void *x, void *residual, double p, uint64_t key);
// dropout(max(x, 0)).
char *redsi_relu_dropout(void **out, void *x, double p, uint64_t key);
// rounded: of float32 on a CPU, as bfloat16.
char *redsi_rms_norm(void **out, void *x, void *w, double eps, int rounded);
// gelu by tanh (0) or silu (1) of each element; on a CPU the same bytes for any number of threads.
char *redsi_activation(void **out, void *x, int64_t kind);

// One call of attention on a CPU in float32 or bfloat16: n sequences, sequence i with q_len[i] rows of q from row
// q_start[i] on and k_len[i] rows of k and v.
typedef struct {
  const int64_t *q_start, *q_len, *k_start, *k_len;
  int64_t n, heads;
  double scale, dropout;
  uint64_t key;
  int causal;
} redsi_attention_args;
char *redsi_attention(void **out, void *q, void *k, void *v, void *bias, const redsi_attention_args *args);

// One Adafactor update of p with gradient g, in place, on a CPU. Of a matrix, row and
// col are the running means of squares; of a vector, full is; the others are NULL.
typedef struct {
  double lr, beta2, eps1, eps2, clip, weight_decay;
  int scale_parameter;
} redsi_adafactor_args;
char *redsi_adafactor(void *p, void *g, void *row, void *col, void *full, const redsi_adafactor_args *args);

// One AdamW update of p with gradient g, in place, on a CPU; m and v are its running means. The steps count from 1.
typedef struct {
  double lr, beta1, beta2, eps, weight_decay;
  int64_t step;
} redsi_adamw_args;
char *redsi_adamw_update(void *p, void *g, void *m, void *v, const redsi_adamw_args *args);

// The functions that follow change many tensors by few operations, and wait for nothing (multi.h). found
// and divisor may be NULL. What differs between updates is in tensors: rate, of which lr of args is not read,
// is float32 [1], and slot int64 [1], on the device of the others.

// to[i] = from[i], of any types.
char *redsi_copy_all(void **to, void **from, int64_t n);

// Takes an update's loss and gradients, of the loss times the scale, into a scaler's state at a slot of its
// ring; the state is float32 [6 + 2*ring].
typedef struct {
  int64_t ring, interval;
  double clip, growth, backoff; // clip 0: the norm is not bounded
  int scaled;
} redsi_check_args;
char *redsi_check(void *state, void *loss, void **grads, int64_t n, void *slot, const redsi_check_args *args);

// One Adafactor update of all parameters: classes of three numbers each, members, rows and columns
// (0: vectors). inverse is 1/root of how many squares each of the means is over; the present gradient's weight
// is steps to a power, and beta2 of args is not read.
char *redsi_adafactor_all(void **p, void **g, int64_t n, const int64_t *classes, int64_t n_classes, void *means,
                          void *inverse, void *steps, double power, void *rate, void *found, void *divisor,
                          const redsi_adafactor_args *args);

// One AdamW update of n parameters; the steps count from 1 and are float32 [1].
char *redsi_adamw_all(void **p, void **g, void **m, void **v, int64_t n, void *steps, void *rate, void *found,
                      void *divisor, const redsi_adamw_args *args);

// The sum of the squares of t's elements, the same for any number of threads.
char *redsi_square_sum(double *out, void *t);

// to[index[i]] += from[i], rows.
char *redsi_add_rows(void *to, void *index, void *from);

// x·wᵀ, plus bias where that is not NULL.
char *redsi_linear(void **out, void *x, void *w, void *bias);
// w [n, k] as redsi_packed_linear takes it, which computes redsi_linear's bytes without gradients; where redsi_k_wide().
char *redsi_pack_rows(void **out, void *w);
char *redsi_packed_linear(void **out, void *x, void *packed, int64_t n, void *bias);
// w as redsi_packed_linear_bf16 multiplies by it, in bfloat16: read by nothing else.
char *redsi_pack_bf16(void **out, void *w);
// activation(x·wᵀ + bias), or x·wᵀ + bias + residual, of bfloat16; the residual may be NULL, and the activation empty.
char *redsi_packed_linear_bf16(void **out, void *x, void *w, void *bias, void *residual, const char *activation);
// Rows of old [any, steps, w] in an order, or as they are where that is NULL, each with its row of step [rows, w] after it:
// [rows, steps+1, w], on a CPU and without gradients.
char *redsi_extend(void **out, void *old, void *order, void *step);
// x·wᵀ of matrices of half precision, as float32.
char *redsi_wide_linear(void **out, void *x, void *w);

// Mean cross entropy of the logits h·wᵀ over labels that are not ignore, on a CPU in float32 or bfloat16; smooth of
// each label's weight is spread evenly over all tokens.
char *redsi_head_loss(void **out, void *h, void *w, void *labels, int64_t ignore, double smooth);

#ifdef __cplusplus
}
#endif
