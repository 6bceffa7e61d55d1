// What the C++ files offer for cards beyond native.h: layouts of packed sequences, attention over padded ones,
// the head's loss in slices. Nothing here copies between host and device or waits.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// Seeds the generator that dropout on a device draws from; -1 is the CPU.
char *redsi_seed(int device, uint64_t key);
// What it draws next, as bytes on the CPU, and the way back to it.
char *redsi_random_state(void **out, int device);
char *redsi_set_random_state(int device, void *state);

// Where the elements of a matrix lie: its memory, its first element there, from row to row and from column to
// column, in elements.
char *redsi_place_of(void *t, void **memory, int64_t *offset, int64_t *row, int64_t *column);

// Whether attention of q would run in libtorch's memory-efficient kernel, by its type and device.
int redsi_fused_fits(void *q, int64_t d);

// The index of lines of d numbers that makes [count, n, heads, most, d] of rows, whose heads follow one another and
// whose rows are step lines apart: pad [n*most] is the row of each place.
char *redsi_head_lines(void **out, void *pad, int64_t n, int64_t most, int64_t heads, int64_t count, int64_t step);
// The index that makes rows [rows, count, heads, d] of [count, n, heads, most, d]: back [rows] is each row's place.
char *redsi_head_places(void **out, void *back, int64_t n, int64_t most, int64_t heads, int64_t count);

// What no query sees, [n, 1, 1 or m, l]: keys from k_len[i] on, under a causal mask also those after a query.
char *redsi_hidden(void **out, void *q_len, void *k_len, int64_t m, int64_t l, int causal);
// Bias [heads, >=m, >=l], or NULL, and hidden together, as q's type has it: [n, heads, 1 or m, l], whose rows lie
// as the kernels want them.
char *redsi_mask_bias(void **out, void *bias, void *hidden, int64_t heads, int64_t m, int64_t l, void *q);
// Whether tensors made now record for gradients.
int redsi_records(void);

// Packed q, k and v as padded batches and back. Those of the three that lie together in rows are one part.
typedef struct {
  int64_t n, m, l, heads;
  double scale, dropout;
  int fused;
  int parts;
  int64_t count[3], step[3];
  void *pad[3], *back[3]; // per part; back is NULL where there can be no gradients
  void *out;              // where results are put back from
  void *bias;
  // Cumulative lengths (int32) of sequences that follow one another: the kernel takes them as they are, without
  // padding and bias. NULL: it does not.
  void *q_ends, *k_ends;
  int causal;
} redsi_packed_args;
char *redsi_packed_attention(void **out, void *q, void *k, void *v, const redsi_packed_args *args);

// Attention of q [n, m, heads*d] to k and v [n, l, heads*d], with a bias or NULL.
char *redsi_batch_attention(void **out, void *q, void *k, void *v, void *bias, int64_t heads, double scale,
                            double dropout, int fused);

// table [buckets, heads], distances [2*most-1] its rows -> [heads, most, most], row i and column j of distance j-i.
char *redsi_relative_bias(void **out, void *table, void *distances, int64_t most);

// redsi_head_loss on a card, or in half precision, times scale (a tensor of one element) where that is not NULL. last: its gradients begin at
// it, by 1.
char *redsi_head_slices(void **out, void *h, void *w, void *labels, int64_t ignore, double smooth, void *scale,
                        int last);

#ifdef __cplusplus
}
#endif
