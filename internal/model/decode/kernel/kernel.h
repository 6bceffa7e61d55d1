// Loops over contiguous float32 rows, for one thread's share of them.
#pragma once
#include <stdint.h>

enum { REDSI_ROWS = 6, REDSI_COLUMNS = 16 };

// Products of packed rows a, [ceil(rows/6), steps, 6], and packed tokens w,
// [ceil(vocab/16), steps, 16], into logits [rows, vocab]; of blocks of 128 tokens, the
// from-th to the one before to. maxima [rows, blocks] as below. A step is a float32, or a pair of bfloat16, of which
// the first is the lower half of 32 bits, multiplied by one instruction or widened; sums are float32.
enum { REDSI_FLOATS, REDSI_PAIRS, REDSI_WIDENED };
void redsi_decode_multiply(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                           int64_t from, int64_t to, float *logits, float *maxima);
// Whether the processor has the instruction of REDSI_PAIRS.
int redsi_decode_bf16(void);

// Rows of vocab logits: norms[r] = log(sum(exp(row))), given maxima[r][b], the maximum of
// the row's b-th block of 128. A row with a number that is not finite has a norm that
// is not finite.
void redsi_decode_normalize(const float *logits, int64_t rows, int64_t vocab, const float *maxima, float *norms);

// Both of the above for all rows and tokens, by OpenMP: the threads that libtorch has
// waiting busily for its next operation. Whether there is OpenMP.
void redsi_decode_scores(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                         int threads, float *logits, float *maxima, float *norms);
int redsi_decode_openmp(void);
