// Vectors are written out with the compiler's vector types: the same operations in
// the same order on every processor, for whose widest unit they are compiled.
#include "clones.h"
#include "kernel.h"

#include <math.h>
#include <string.h>


enum { LANES = 8, BLOCK = 128 };
typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
// Two vec side by side, for what has more operations than loads.
typedef float wide __attribute__((vector_size(8 * LANES)));
typedef int32_t iwide __attribute__((vector_size(8 * LANES)));

INLINE vec load(const float *x) {
  vec v;
  memcpy(&v, x, sizeof v);
  return v;
}

INLINE vec all(float x) { return (vec){x, x, x, x, x, x, x, x}; }

// mask ? a : b
INLINE vec choose(ivec mask, vec a, vec b) { return (vec)((mask & (ivec)a) | (~mask & (ivec)b)); }

// e^x for x <= 0, within 2 ulp (Cephes' expf): 2^n * e^r with |r| <= ln(2)/2. NaN
// stays NaN.
INLINE wide exp_negative(wide x) {
  const wide least = (wide){0} - 87.0f;
  const iwide under = x < least;
  x = (wide)((under & (iwide)least) | (~under & (iwide)x));
  const iwide n = __builtin_convertvector(x * 1.44269504f - 0.5f, iwide); // rounds to nearest, as x <= 0
  const wide f = __builtin_convertvector(n, wide);
  const wide r = (x - f * 0.693359375f) + f * 2.12194440e-4f;
  wide p = (wide){0} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  return p * (wide)((n + 127) << 23);
}

INLINE float block_max(const float *x) {
  vec m = load(x);
  for (int i = LANES; i < BLOCK; i += LANES) {
    const vec v = load(x + i);
    m = choose(v > m, v, m);
  }
  float top = m[0];
  for (int i = 1; i < LANES; i++) top = m[i] > top ? m[i] : top;
  return top;
}

INLINE float max_of(const float *x, int64_t n) {
  if (n == BLOCK) return block_max(x);
  float top = x[0];
  for (int64_t i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
  return top;
}

INLINE float block_sum(const float *x, float top) {
  wide sum = {0};
  for (int i = 0; i < BLOCK; i += 2 * LANES) {
    wide v;
    memcpy(&v, x + i, sizeof v);
    sum += exp_negative(v - top);
  }
  vec a, b;
  memcpy(&a, &sum, sizeof a), memcpy(&b, (float *)&sum + LANES, sizeof b);
  a += b;
  return ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
}

// One tile: 6 rows by 16 tokens, of steps numbers each, or pairs of them: a is [steps, 6], w is [steps, 16], ADD what
// adds a product to a sum. The twelve sums are named, so that each has a register.
#define TILE(NAME, T, LOAD, ALL, ADD)                                                                            \
  INLINE void NAME(const T *restrict a, const T *restrict w, int64_t steps, vec out[REDSI_ROWS][2]) {            \
    vec a0 = all(0), a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0, e0 = a0, e1 = a0, f0 = a0, f1 = a0; \
    for (int64_t k = 0; k < steps; k++) {                                                                        \
      const __typeof__(LOAD(w)) w0 = LOAD(w), w1 = LOAD(w + LANES);                                              \
      ADD(a0, ALL(a[0]), w0), ADD(a1, ALL(a[0]), w1);                                                            \
      ADD(b0, ALL(a[1]), w0), ADD(b1, ALL(a[1]), w1);                                                            \
      ADD(c0, ALL(a[2]), w0), ADD(c1, ALL(a[2]), w1);                                                            \
      ADD(d0, ALL(a[3]), w0), ADD(d1, ALL(a[3]), w1);                                                            \
      ADD(e0, ALL(a[4]), w0), ADD(e1, ALL(a[4]), w1);                                                            \
      ADD(f0, ALL(a[5]), w0), ADD(f1, ALL(a[5]), w1);                                                            \
      a += REDSI_ROWS, w += REDSI_COLUMNS;                                                                       \
    }                                                                                                            \
    out[0][0] = a0, out[0][1] = a1, out[1][0] = b0, out[1][1] = b1, out[2][0] = c0, out[2][1] = c1;              \
    out[3][0] = d0, out[3][1] = d1, out[4][0] = e0, out[4][1] = e1, out[5][0] = f0, out[5][1] = f1;              \
  }

#define MULTIPLY(NAME, T, TILE_OF)                                                                               \
  void NAME(const T *restrict a, const T *restrict w, int64_t rows, int64_t steps, int64_t vocab, int64_t from,  \
            int64_t to, float *restrict logits, float *restrict maxima) {                                        \
    const int64_t blocks = (vocab + BLOCK - 1) / BLOCK;                                                          \
    for (int64_t b = from; b < to; b++) {                                                                        \
      const int64_t first = b * BLOCK, last = first + BLOCK < vocab ? first + BLOCK : vocab;                     \
      for (int64_t r = 0; r < rows; r += REDSI_ROWS) {                                                           \
        const int64_t m = rows - r < REDSI_ROWS ? rows - r : REDSI_ROWS;                                         \
        for (int64_t t = first; t < last; t += REDSI_COLUMNS) {                                                  \
          const int64_t n = last - t < REDSI_COLUMNS ? last - t : REDSI_COLUMNS;                                 \
          vec out[REDSI_ROWS][2];                                                                                \
          TILE_OF(a + r * steps, w + t * steps, steps, out);                                                     \
          for (int64_t i = 0; i < m; i++) {                                                                      \
            float *x = logits + (r + i) * vocab + t;                                                             \
            if (n == REDSI_COLUMNS)                                                                              \
              memcpy(x, out[i], sizeof out[i]);                                                                  \
            else                                                                                                 \
              memcpy(x, out[i], n * sizeof(float));                                                              \
          }                                                                                                      \
        }                                                                                                        \
        for (int64_t i = 0; i < m; i++)                                                                          \
          maxima[(r + i) * blocks + b] = max_of(logits + (r + i) * vocab + first, last - first);                 \
      }                                                                                                          \
    }                                                                                                            \
  }

#define SAME(x) (x)
#define ADD(sum, x, y) sum += (x) * (y)
TILE(tile, float, load, SAME, ADD)
CLONES static MULTIPLY(multiply, float, tile)

// Of pairs of bfloat16 the first number is the lower half: both are widened, or multiplied by one instruction.
INLINE ivec load_pairs(const uint32_t *x) {
  ivec v;
  memcpy(&v, x, sizeof v);
  return v;
}
INLINE ivec all_pairs(uint32_t x) {
  const int32_t i = (int32_t)x;
  return (ivec){i, i, i, i, i, i, i, i};
}
#define FIRST(x) ((vec)((x) << 16))
#define SECOND(x) ((vec)((x) & ~0xffff))
#define ADD_WIDENED(sum, x, y) sum += FIRST(x) * FIRST(y), sum += SECOND(x) * SECOND(y)
TILE(tile_widened, uint32_t, load_pairs, all_pairs, ADD_WIDENED)
CLONES static MULTIPLY(multiply_widened, uint32_t, tile_widened)

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512bf16")
#define ADD_PAIRS(sum, x, y) sum = (vec)_mm256_dpbf16_ps((__m256)(sum), (__m256bh)(x), (__m256bh)(y))
TILE(tile_pairs, uint32_t, load_pairs, all_pairs, ADD_PAIRS)
static MULTIPLY(multiply_pairs, uint32_t, tile_pairs)
#pragma GCC pop_options

int redsi_decode_bf16(void) { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"); }
#else
#define multiply_pairs multiply_widened
int redsi_decode_bf16(void) { return 0; }
#endif

CLONES static void multiply_int8(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                                 int64_t from, int64_t to, float *logits, float *maxima) {
  const int64_t blocks = (vocab + BLOCK - 1) / BLOCK;
  for (int64_t b = from; b < to; b++) {
    const int64_t first = b * BLOCK, last = first + BLOCK < vocab ? first + BLOCK : vocab;
    redsi_int8_multiply(a, w, of, rows, steps, vocab, first, last, NULL, logits);
    for (int64_t r = 0; r < rows; r++) maxima[r * blocks + b] = max_of(logits + r * vocab + first, last - first);
  }
}

void redsi_decode_multiply(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                           int64_t from, int64_t to, float *logits, float *maxima) {
  if (of == REDSI_FLOATS)
    multiply(a, w, rows, steps, vocab, from, to, logits, maxima);
  else if (of == REDSI_PAIRS)
    multiply_pairs(a, w, rows, steps, vocab, from, to, logits, maxima);
  else if (of != REDSI_WIDENED)
    multiply_int8(a, w, of, rows, steps, vocab, from, to, logits, maxima);
  else
    multiply_widened(a, w, rows, steps, vocab, from, to, logits, maxima);
}

CLONES void redsi_decode_normalize(const float *restrict logits, int64_t rows, int64_t vocab,
                                   const float *restrict maxima, float *restrict norms) {
  const int64_t whole = vocab / BLOCK, blocks = (vocab + BLOCK - 1) / BLOCK;
  for (int64_t r = 0; r < rows; r++) {
    const float *row = logits + r * vocab;
    float top = maxima[r * blocks];
    for (int64_t b = 1; b < blocks; b++) top = maxima[r * blocks + b] > top ? maxima[r * blocks + b] : top;
    double sum = 0;
    for (int64_t b = 0; b < whole; b++) sum += block_sum(row + b * BLOCK, top);
    for (int64_t i = whole * BLOCK; i < vocab; i++) sum += exp((double)(row[i] - top));
    norms[r] = top + (float)log(sum);
  }
}

#ifdef _OPENMP

int redsi_decode_openmp(void) { return 1; }

void redsi_decode_scores(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                         int threads, float *logits, float *maxima, float *norms) {
  const int64_t blocks = (vocab + BLOCK - 1) / BLOCK;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 4)
    for (int64_t b = 0; b < blocks; b++) redsi_decode_multiply(a, w, of, rows, steps, vocab, b, b + 1, logits, maxima);
#pragma omp for schedule(dynamic, 8)
    for (int64_t r = 0; r < rows; r++)
      redsi_decode_normalize(logits + r * vocab, 1, vocab, maxima + r * blocks, norms + r);
  }
}

#else

int redsi_decode_openmp(void) { return 0; }
void redsi_decode_scores(const void *a, const void *w, int of, int64_t rows, int64_t steps, int64_t vocab,
                         int threads, float *logits, float *maxima, float *norms) {}

#endif
