// Products of rows and columns rounded to 8 bits. Sums are whole numbers, and rounding and scaling are one operation
// each, so that results have the same bytes on every processor and for any number of rows and threads.
#include "clones.h"
#include "kernel.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif

enum { ROWS = REDSI_INT8_ROWS, COLUMNS = REDSI_INT8_COLUMNS, PART = 256, TOGETHER = 32 };

// Where the numbers behind a matrix's words are: of each vector, then of each again.
INLINE int64_t padded(int64_t n, int64_t width) { return (n + width - 1) / width * width; }

// round_some rounds the vectors from … to-1.
CLONES static void round_some(const float *restrict x, int64_t n, int64_t depth, int64_t width, uint32_t flip,
                              uint32_t *restrict words, int64_t from, int64_t to) {
  const int64_t steps = (depth + 3) / 4, all = padded(n, width);
  int32_t *starts = (int32_t *)words + all * steps;
  float *scales = (float *)words + all * (steps + 1);
  x += from * depth;
  for (int64_t i = from; i < to; i++, x += depth) {
    int32_t bits = 0; // of the largest magnitude; those of a NaN are more than those of any number
    for (int64_t k = 0; k < depth; k++) {
      int32_t b;
      memcpy(&b, x + k, 4);
      b &= 0x7fffffff;
      bits = b > bits ? b : bits;
    }
    float top;
    memcpy(&top, &bits, 4);
    const int none = top < 1e-36f, finite = bits < 0x7f800000; // less has no inverse
    const float times = none || !finite ? 0 : 127 / top;
    int32_t sum = 0;
    uint32_t *at = words + i / width * width * steps + i % width;
    for (int64_t k = 0; k < depth; k += PART) {
      float part[PART] = {0};
      int8_t rounded[PART];
      memcpy(part, x + k, (depth - k < PART ? depth - k : PART) * sizeof(float));
      for (int j = 0; j < PART; j++) {
        const float nearest = part[j] * times + 12582912.0f; // 1.5 * 2^23: its last bits are the whole number
        int32_t b;
        memcpy(&b, &nearest, 4);
        rounded[j] = (int8_t)b;
      }
      for (int j = 0; j < PART; j++) sum += rounded[j];
      for (int64_t j = 0; j < PART / 4 && k / 4 + j < steps; j++) {
        uint32_t word;
        memcpy(&word, rounded + 4 * j, 4);
        at[(k / 4 + j) * width] = word ^ flip;
      }
    }
    starts[i] = -128 * sum;
    scales[i] = !finite ? NAN : none ? 0 : top / 127;
  }
}

void redsi_int8_round(const float *x, int64_t n, int64_t depth, int64_t width, uint32_t flip, int threads, uint32_t *words) {
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && n * depth > 1 << 16)
  for (int64_t i = 0; i < n; i += width)
    round_some(x, n, depth, width, flip, words, i, i + width < n ? i + width : n);
}

// One tile: ROWS by COLUMNS, R rows and C vectors at a time. DOT adds to each number of sum the four products of the bytes of
// w, without sign, and of x, with one.
#define UNROLL _Pragma("GCC unroll 16")
#define TILE(NAME, V, R, C, DOT)                                                                                \
  INLINE void NAME(const uint32_t *restrict a, const uint32_t *restrict w, int64_t steps, const int32_t *start, \
                   int32_t out[ROWS][COLUMNS]) {                                                                \
    enum { N = sizeof(V) / 4 };                                                                                 \
    for (int r0 = 0; r0 < ROWS; r0 += R)                                                                        \
      for (int c0 = 0; c0 < COLUMNS; c0 += C * N) {                                                             \
        V sum[R][C], v[C];                                                                                      \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++) sum[r][c] = (V){0} + start[r0 + r]; \
        for (int64_t k = 0; k < steps; k++) {                                                                   \
          UNROLL for (int c = 0; c < C; c++) memcpy(&v[c], w + k * COLUMNS + c0 + c * N, sizeof(V));            \
          UNROLL for (int r = 0; r < R; r++) {                                                                  \
            const V x = (V){0} + (int32_t)a[k * ROWS + r0 + r];                                                 \
            UNROLL for (int c = 0; c < C; c++) sum[r][c] = DOT(sum[r][c], v[c], x);                             \
          }                                                                                                     \
        }                                                                                                       \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int c = 0; c < C; c++)                                   \
          memcpy(out[r0 + r] + c0 + c * N, &sum[r][c], sizeof(V));                                              \
      }                                                                                                         \
  }

// The products of all rows and of columns from … to-1; from is a multiple of COLUMNS. TOGETHER rows have their results written while
// columns stay in a core's cache.
#define MULTIPLY(NAME, TILE_OF)                                                                                        \
  static void NAME(const uint32_t *restrict a, const uint32_t *restrict w, int64_t rows, int64_t steps, int64_t n,     \
                   int64_t from, int64_t to, const float *bias, float *restrict out) {                                 \
    const int64_t all = padded(rows, ROWS), wide = padded(n, COLUMNS);                                                 \
    const int32_t *starts = (const int32_t *)a + all * steps;                                                          \
    const float *scales = (const float *)a + all * (steps + 1), *of = (const float *)w + wide * (steps + 1);           \
    for (int64_t first = 0; first < rows; first += TOGETHER)                                                           \
      for (int64_t t = from; t < to; t += COLUMNS) {                                                                   \
        float plus[COLUMNS] = {0};                                                                                     \
        const size_t size = (to - t < COLUMNS ? to - t : COLUMNS) * sizeof(float);                                     \
        if (bias) memcpy(plus, bias + t, size);                                                                        \
        for (int64_t r = first; r < rows && r < first + TOGETHER; r += ROWS) {                                         \
          int32_t sums[ROWS][COLUMNS];                                                                                 \
          TILE_OF(a + r * steps, w + t * steps, steps, starts + r, sums);                                              \
          for (int64_t i = 0; i < ROWS && r + i < rows; i++) {                                                         \
            float scaled[COLUMNS], *y = out + (r + i) * n + t;                                                         \
            for (int j = 0; j < COLUMNS; j++) scaled[j] = (float)sums[i][j] * (scales[r + i] * of[t + j]) + plus[j];   \
            if (size == sizeof scaled)                                                                                 \
              memcpy(y, scaled, sizeof scaled);                                                                        \
            else                                                                                                       \
              memcpy(y, scaled, size);                                                                                 \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
  }

INLINE int32_t dot_plain(int32_t sum, int32_t w, int32_t x) {
  for (int b = 0; b < 32; b += 8) sum += (int8_t)(x >> b) * (w >> b & 255);
  return sum;
}
TILE(tile_plain, int32_t, 1, COLUMNS, dot_plain)
MULTIPLY(multiply_plain, tile_plain)

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>
typedef int32_t v8 __attribute__((vector_size(32)));
typedef int32_t v16 __attribute__((vector_size(64)));

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512vnni")
#define DOT_VNNI(sum, w, x) (v16)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(w), (__m512i)(x))
TILE(tile_vnni, v16, 8, 2, DOT_VNNI)
MULTIPLY(multiply_vnni, tile_vnni)
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
// Bytes are widened to 16 bits, the even ones and the odd ones: sums of two products of 8 bits would not fit into 16.
INLINE v8 dot_wide(v8 sum, v8 w, v8 x) {
  const __m256i even = _mm256_and_si256((__m256i)w, _mm256_set1_epi32(0x00ff00ff));
  const __m256i signs = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)x, 8), 8);
  return sum + (v8)_mm256_madd_epi16(even, signs) +
         (v8)_mm256_madd_epi16(_mm256_srli_epi16((__m256i)w, 8), _mm256_srai_epi16((__m256i)x, 8));
}
TILE(tile_wide, v8, 4, 2, dot_wide)
MULTIPLY(multiply_wide, tile_wide)
#pragma GCC pop_options

int redsi_int8_best(void) {
  if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("x86-64-v4")) return REDSI_INT8_VNNI;
  return __builtin_cpu_supports("x86-64-v3") ? REDSI_INT8_WIDE : REDSI_INT8_PLAIN;
}
#else
#define multiply_vnni multiply_plain
#define multiply_wide multiply_plain
int redsi_int8_best(void) { return REDSI_INT8_PLAIN; }
#endif

void redsi_int8_multiply(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t n, int64_t from,
                         int64_t to, const float *bias, float *out) {
  (of == REDSI_INT8_VNNI   ? multiply_vnni
   : of == REDSI_INT8_WIDE ? multiply_wide
                           : multiply_plain)(a, w, rows, steps, n, from, to, bias, out);
}

void redsi_int8_product(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t n, int threads, const float *bias,
                        float *out) {
  const int64_t share = padded((n + threads - 1) / threads, COLUMNS);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t t = 0; t < n; t += share)
    redsi_int8_multiply(a, w, of, rows, steps, n, t, t + share < n ? t + share : n, bias, out);
}
