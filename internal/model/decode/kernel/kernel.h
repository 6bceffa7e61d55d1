// Loops over contiguous float32 rows, for one thread's share of them.
#pragma once
#include <stdint.h>

enum { REDSI_ROWS = 6, REDSI_COLUMNS = 16 };

// Products of packed rows a, [ceil(rows/6), steps, 6], and packed tokens w,
// [ceil(vocab/16), steps, 16], into logits [rows, vocab]; of blocks of 128 tokens, the
// from-th to the one before to. maxima [rows, blocks] as below. A step is a float32, or a pair of bfloat16, of which
// the first is the lower half of 32 bits, multiplied by one instruction or widened; sums are float32.
// Of REDSI_INT8_VNNI and those after it a and w are redsi_int8_round's, and steps its words.
enum { REDSI_FLOATS, REDSI_PAIRS, REDSI_WIDENED, REDSI_INT8_VNNI, REDSI_INT8_WIDE, REDSI_INT8_PLAIN };
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

// Rounds n vectors x [n, depth] to whole numbers of -127 to 127, by the largest magnitude of each, four in a word, into
// [ceil(n/width), steps, width] words, steps = ceil(depth/4). Behind the words are, for each vector, one filled up to width, the sum of its
// numbers times -128, and its scale, a float32. width is REDSI_INT8_ROWS, or REDSI_INT8_COLUMNS with a flip of 0x80808080, which
// makes signed bytes unsigned. A vector with a number that is not finite has the scale NaN.
enum { REDSI_INT8_ROWS = 8, REDSI_INT8_COLUMNS = 32 };
void redsi_int8_round(const float *x, int64_t n, int64_t depth, int64_t width, uint32_t flip, int threads, uint32_t *words);
// Products of rows a and columns w, plus bias [n] (or NULL), into out [rows, n]: of columns from … to-1, from a multiple of REDSI_INT8_COLUMNS; and of all.
void redsi_int8_multiply(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t n, int64_t from,
                         int64_t to, const float *bias, float *out);
void redsi_int8_product(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t n, int threads, const float *bias,
                        float *out);
// The fastest of REDSI_INT8_… that the processor has instructions for. Results are the same.
int redsi_int8_best(void);
