// A block of c, 12 rows by 32 columns, is summed in 24 registers of 16 numbers: for
// each number of depth two of b are loaded and twelve of a broadcast. Sums run in
// the order of depth, so that neither threads nor neighbours change a result.
#include "gemm.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdlib.h>
#include <strings.h>

// Instructions for bfloat16 are in what is asked to multiply pairs alone.
#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define INLINE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"), always_inline)) static inline

enum { LANES = 16 };

// Who asks libtorch by its own variable for less than AVX-512 gets none of ours either:
// the whole of a step is then computed as on a processor without it.
static int asked_for_less(void) {
  const char *capability = getenv("ATEN_CPU_CAPABILITY");
  return capability && *capability && strcasecmp(capability, "avx512") != 0;
}

static int wide(void) {
  return !asked_for_less() && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

int redsi_k_wide(void) {
  static volatile int known = -1; // several threads may find the same
  if (known < 0) known = wide();
  return known;
}

int redsi_k_wide_pairs(void) { return redsi_k_wide() && __builtin_cpu_supports("avx512bf16"); }

// The first n of 16 numbers.
INLINE __mmask16 first(int64_t n) { return n >= LANES ? 0xffff : n <= 0 ? 0 : (__mmask16)((1u << n) - 1); }

// Rows r … 15 of 16 vectors of 16 numbers become columns.
INLINE void transpose(__m512 r[LANES]) {
  __m512 t[LANES];
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
      r[i + 2 * j] = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(t[i + j]), _mm512_castps_pd(t[i + j + 2])));
      r[i + 2 * j + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(t[i + j]), _mm512_castps_pd(t[i + j + 2])));
    }
  // r[4q+c] holds column c of each quarter, rows 4q … 4q+3.
#pragma GCC unroll 4
  for (int c = 0; c < 4; c++) {
    const __m512 a = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x44), b = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xee);
    const __m512 d = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x44), e = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xee);
    t[c] = _mm512_shuffle_f32x4(a, d, 0x88);
    t[4 + c] = _mm512_shuffle_f32x4(a, d, 0xdd);
    t[8 + c] = _mm512_shuffle_f32x4(b, e, 0x88);
    t[12 + c] = _mm512_shuffle_f32x4(b, e, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < LANES; i++) r[i] = t[i];
}

// A panel's part of up to 16 vectors whose numbers stand side by side.
WIDE static void pack_vectors(float *dst, const float *src, int64_t stride, int64_t n, int64_t k, int64_t width,
                              __mmask16 room) {
  for (int64_t l = 0; l < k; l += LANES) {
    const __mmask16 left = first(k - l);
    __m512 r[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) r[i] = i < n ? _mm512_maskz_loadu_ps(left, src + i * stride + l) : _mm512_setzero_ps();
    transpose(r);
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
      if (l + i < k) _mm512_mask_storeu_ps(dst + (l + i) * width, room, r[i]);
  }
}

WIDE void redsi_k_pack(float *dst, const float *src, int64_t vector, int64_t number, int64_t n, int64_t k,
                       int64_t width) {
  for (int64_t i = 0; i < n; i += width, dst += k * width) {
    if (number == 1) {
      for (int64_t j = 0; j < width; j += LANES)
        pack_vectors(dst + j, src + (i + j) * vector, vector, n - i - j, k, width, first(width - j));
      continue;
    }
    const __mmask16 low = first(n - i), high = first(n - i - LANES), room = first(width);
    for (int64_t l = 0; l < k; l++) {
      const float *x = src + i + l * number;
      _mm512_mask_storeu_ps(dst + l * width, room, _mm512_maskz_loadu_ps(low & room, x));
      if (width > LANES) _mm512_storeu_ps(dst + l * width + LANES, _mm512_maskz_loadu_ps(high, x + LANES));
    }
  }
}

// What one block of c is made of.
typedef struct {
  float *c;
  const float *a, *b, *bias;
  int64_t ldc, row, col, ldb, n, k;
  float alpha;
  int add;
} block;

// s + x*y, of floats or of pairs of bfloat16, the first of which is the lower half of 32 bits.
INLINE __m512 plus(__m512 s, __m512 x, __m512 y, int pairs) {
  return pairs ? _mm512_dpbf16_ps(s, (__m512bh)x, (__m512bh)y) : _mm512_fmadd_ps(x, y, s);
}

INLINE void tile(const block *t, int rows, int pairs) {
  const __mmask16 low = first(t->n), high = first(t->n - LANES);
  __m512 s[REDSI_ROWS][2];
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++) s[i][0] = s[i][1] = _mm512_setzero_ps();
  const float *a = t->a, *b = t->b;
  const int64_t row = t->row, col = t->col, ldb = t->ldb;
  for (int64_t l = t->k; l > 0; l--) {
    const __m512 b0 = _mm512_maskz_loadu_ps(low, b), b1 = _mm512_maskz_loadu_ps(high, b + LANES);
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++) {
      const __m512 x = _mm512_set1_ps(a[i * row]);
      s[i][0] = plus(s[i][0], x, b0, pairs);
      s[i][1] = plus(s[i][1], x, b1, pairs);
    }
    a += col, b += ldb;
  }
  const __m512 alpha = _mm512_set1_ps(t->alpha);
  __m512 bias0 = _mm512_setzero_ps(), bias1 = bias0;
  if (t->bias) bias0 = _mm512_maskz_loadu_ps(low, t->bias), bias1 = _mm512_maskz_loadu_ps(high, t->bias + LANES);
  float *c = t->c;
#pragma GCC unroll 12
  for (int i = 0; i < rows; i++, c += t->ldc) {
    const __m512 c0 = t->add ? _mm512_maskz_loadu_ps(low, c) : bias0;
    const __m512 c1 = t->add ? _mm512_maskz_loadu_ps(high, c + LANES) : bias1;
    _mm512_mask_storeu_ps(c, low, _mm512_fmadd_ps(alpha, s[i][0], c0));
    _mm512_mask_storeu_ps(c + LANES, high, _mm512_fmadd_ps(alpha, s[i][1], c1));
  }
}

// One piece of code for each number of rows.
INLINE void any_tile(const block *t, int64_t rows, int pairs) {
  switch (rows) {
#define ROWS(n)        \
  case n:              \
    tile(t, n, pairs); \
    break;
    ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9) ROWS(10) ROWS(11) ROWS(12)
#undef ROWS
  }
}
WIDE static void tile_of(const block *t, int64_t rows) { any_tile(t, rows, 0); }
WIDE static void tile_of_pairs(const block *t, int64_t rows) { any_tile(t, rows, 1); }

INLINE void full_tile(const block *t, int pairs) {
  block p = *t;
  p.row = 1, p.col = REDSI_ROWS, p.ldb = REDSI_COLUMNS, p.alpha = 1; // known here, so that they cost nothing
  tile(&p, REDSI_ROWS, pairs);
}
WIDE static void full_packed_tile(const block *t) { full_tile(t, 0); }
WIDE static void full_packed_pairs(const block *t) { full_tile(t, 1); }

WIDE void redsi_k_packed_product(float *c, int64_t ldc, const float *a, int64_t a_panel, const float *b,
                                 int64_t b_panel, const float *bias, int64_t m, int64_t n, int64_t k, int add, int pairs) {
  for (int64_t j = 0; j < n; j += REDSI_COLUMNS) {
    block t = {.b = b + j / REDSI_COLUMNS * b_panel, .bias = bias ? bias + j : NULL, .ldc = ldc, .row = 1,
               .col = REDSI_ROWS, .ldb = REDSI_COLUMNS, .n = n - j, .k = k, .alpha = 1, .add = add};
    for (int64_t i = 0; i < m; i += REDSI_ROWS) {
      t.a = a + i / REDSI_ROWS * a_panel;
      t.c = c + i * ldc + j;
      if (m - i >= REDSI_ROWS)
        (pairs ? full_packed_pairs : full_packed_tile)(&t);
      else
        (pairs ? tile_of_pairs : tile_of)(&t, m - i);
    }
  }
}

WIDE void redsi_k_small_product(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *b,
                                int64_t ldb, int64_t m, int64_t n, int64_t k, float alpha) {
  for (int64_t j = 0; j < n; j += REDSI_COLUMNS)
    for (int64_t i = 0; i < m; i += REDSI_ROWS) {
      const block t = {.c = c + i * ldc + j, .a = a + i * row, .b = b + j, .ldc = ldc, .row = row, .col = col,
                       .ldb = ldb, .n = n - j, .k = k, .alpha = alpha};
      tile_of(&t, m - i < REDSI_ROWS ? m - i : REDSI_ROWS);
    }
}

WIDE void redsi_k_pack_columns(uint32_t *y, const uint16_t *x, int64_t ld, int64_t rows, int64_t n, int64_t width) {
  for (int64_t from = 0; from < n; from += LANES) {
    uint32_t *to = y + from / width * width * ((rows + 1) / 2) + from % width;
    for (int64_t r = 0; r < rows; r += 2, to += width) {
      const uint16_t *a = x + r * ld + from;
      const __m512i upper = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(r + 1 < rows ? first(n - from) : 0, a + ld));
      const __m512i lower = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first(n - from), a));
      _mm512_storeu_si512(to, _mm512_or_si512(lower, _mm512_slli_epi32(upper, 16)));
    }
  }
}

// 2^x for x <= 0 to 4e-5, by Taylor's polynomial of the rest; NaN stays NaN.
INLINE __m512 exp2_nonpositive(__m512 x) {
  x = _mm512_max_ps(_mm512_set1_ps(-127), x);
  const __m512 whole = _mm512_roundscale_ps(x, 0), r = _mm512_sub_ps(x, whole);
  __m512 p = _mm512_fmadd_ps(r, _mm512_set1_ps(9.6181291e-3f), _mm512_set1_ps(5.5504109e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24022651f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.69314718f));
  return _mm512_scalef_ps(_mm512_fmadd_ps(p, r, _mm512_set1_ps(1)), whole);
}

WIDE void redsi_k_softmax_pairs(uint16_t *y, int64_t ld, float *x, float scale, const float *bias, int64_t bias_row, int64_t m, int64_t n) {
  const __m512 log2e = _mm512_set1_ps(1.44269504f), by = _mm512_set1_ps(scale * 1.44269504f);
  for (int64_t i = 0; i < m; i++, x += n, y += ld) {
    __m512 top = _mm512_set1_ps(-__builtin_inff()), sum = _mm512_setzero_ps();
    for (int64_t j = 0; j < n; j += LANES) {
      __m512 v = _mm512_mul_ps(by, _mm512_maskz_loadu_ps(first(n - j), x + j));
      if (bias) v = _mm512_fmadd_ps(log2e, _mm512_maskz_loadu_ps(first(n - j), bias + i * bias_row + j), v);
      _mm512_mask_storeu_ps(x + j, first(n - j), v);
      top = _mm512_mask_max_ps(top, first(n - j), top, v);
    }
    top = _mm512_set1_ps(_mm512_reduce_max_ps(top));
    for (int64_t j = 0; j < n; j += LANES) {
      const __m512 e = exp2_nonpositive(_mm512_sub_ps(_mm512_maskz_loadu_ps(first(n - j), x + j), top));
      _mm512_mask_storeu_ps(x + j, first(n - j), e);
      sum = _mm512_mask_add_ps(sum, first(n - j), sum, e);
    }
    const __m512 f = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
    for (int64_t j = 0; j < ld; j += LANES)
      _mm256_mask_storeu_epi16(y + j, first(ld - j), (__m256i)_mm512_cvtneps_pbh(_mm512_mul_ps(f, _mm512_maskz_loadu_ps(first(n - j), x + j))));
  }
}

#else // no such processor

int redsi_k_wide(void) { return 0; }
int redsi_k_wide_pairs(void) { return 0; }
void redsi_k_pack(float *dst, const float *src, int64_t vector, int64_t number, int64_t n, int64_t k, int64_t width) {}
void redsi_k_packed_product(float *c, int64_t ldc, const float *a, int64_t a_panel, const float *b, int64_t b_panel,
                            const float *bias, int64_t m, int64_t n, int64_t k, int add, int pairs) {}
void redsi_k_pack_columns(uint32_t *y, const uint16_t *x, int64_t ld, int64_t rows, int64_t n, int64_t width) {}
void redsi_k_softmax_pairs(uint16_t *y, int64_t ld, float *x, float scale, const float *bias, int64_t bias_row, int64_t m, int64_t n) {}
void redsi_k_small_product(float *c, int64_t ldc, const float *a, int64_t row, int64_t col, const float *b,
                           int64_t ldb, int64_t m, int64_t n, int64_t k, float alpha) {}

#endif
