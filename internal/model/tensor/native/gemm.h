// Products of float32 matrices on one thread, for processors with AVX-512 whose
// maker MKL has no AVX-512 kernels for. An operand is packed into panels, or of
// few rows; a matrix's element (i, j) stands at i*row + j*col.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// A panel holds so many rows of a, or columns of b; so large are the blocks of c
// that are summed in registers.
enum { REDSI_ROWS = 12, REDSI_COLUMNS = 32 };

// Whether the functions below work on this processor and are of use there.
int redsi_k_wide(void);
// Whether those that take pairs do.
int redsi_k_wide_pairs(void);

// Packs n vectors of k numbers into panels of width REDSI_ROWS or REDSI_COLUMNS:
// [ceil(n/width), k, width], number l of vector i from src[i*vector + l*number];
// one of the two strides is 1. A last panel that is not full ends in zeros.
void redsi_k_pack(float *dst, const float *src, int64_t vector, int64_t number, int64_t n, int64_t k, int64_t width);

// c [m, n] = a·b, or c + a·b where add is set, else with bias [n] (or NULL) added to
// each row; a packed by rows, b by columns. Panels lie a_panel and b_panel numbers apart. Where pairs is set each of the k numbers
// is two of bfloat16, the sums of whose products are float32: on processors with an instruction for it.
void redsi_k_packed_product(float *c, int64_t ldc, const float *a, int64_t a_panel, const float *b, int64_t b_panel,
                            const float *bias, int64_t m, int64_t n, int64_t k, int add, int pairs);

// The same panels of pairs, of columns: x [rows, n] of bfloat16 whose rows are ld numbers apart, two rows in one, the last of an odd number
// with zeros: [ceil(n/width), ceil(rows/2), width]. Columns that a last panel lacks are not set.
void redsi_k_pack_columns(uint32_t *y, const uint16_t *x, int64_t ld, int64_t rows, int64_t n, int64_t width);
// y [m, ld] = the softmax of each row of scale*x [m, n] + bias (or NULL), to the nearest bfloat16, and zeros from number n on: for products of
// pairs, to 1e-4 before it is rounded. x is written over.
void redsi_k_softmax_pairs(uint16_t *y, int64_t ld, float *x, float scale, const float *bias, int64_t bias_row, int64_t m, int64_t n);

// c [m, n] = alpha*a·b; number (i, l) of a is at i*row + l*col, b is [k, n].
void redsi_k_small_product(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *b,
                           int64_t ldb, int64_t m, int64_t n, int64_t k, float alpha);

#ifdef __cplusplus
}
#endif
