// Loops over contiguous float32 rows, for one thread's share of them.
#pragma once
#include <stdint.h>

enum { REDSI_ROWS = 6, REDSI_COLUMNS = 16 };

// Products of packed rows a, [ceil(rows/6), depth, 6], and packed tokens w,
// [ceil(vocab/16), depth, 16], into logits [rows, vocab]; of blocks of 128 tokens, the
// from-th to the one before to. maxima [rows, blocks] as below.
void redsi_decode_multiply(const float *a, const float *w, int64_t rows, int64_t depth, int64_t vocab, int64_t from,
                           int64_t to, float *logits, float *maxima);

// Rows of vocab logits: norms[r] = log(sum(exp(row))), given maxima[r][b], the maximum of
// the row's b-th block of 128. A row with a number that is not finite has a norm that
// is not finite.
void redsi_decode_normalize(const float *logits, int64_t rows, int64_t vocab, const float *maxima, float *norms);

// Both of the above for all rows and tokens, by OpenMP: the threads that libtorch has
// waiting busily for its next operation. Whether there is OpenMP.
void redsi_decode_scores(const float *a, const float *w, int64_t rows, int64_t depth, int64_t vocab, int threads,
                         float *logits, float *maxima, float *norms);
int redsi_decode_openmp(void);
