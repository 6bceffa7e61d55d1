// Plain loops, compiled for the vector units that x86 processors have; the one
// that runs is chosen when the program starts. Sums may be reordered here (and
// only here), in one fixed way per processor type.
#define _GNU_SOURCE // RTLD_DEFAULT
#include "kernels.h"

#include "gemm.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,associative-math,no-signed-zeros")
#if defined(__x86_64__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#endif
#ifndef CLONES
#define CLONES
#endif

// lowbias32 (C. Wellons), twice: the i-th 32-bit number of a key. A mask is a
// function of (key, index), so that the backward pass computes it again instead of
// keeping it, and the number of threads does not change it.
static inline uint32_t lowbias32(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}
static inline uint32_t number(uint32_t low, uint32_t high, uint32_t i) { return lowbias32(lowbias32(i + low) ^ high); }

// LOOP runs body for i in [begin, end), with n = number of i; the index's upper
// half goes into the key once per 2^32 elements.
#define LOOP(body)                                                                            \
  while (begin < end) {                                                                       \
    const int64_t next = (begin | 0xffffffffLL) + 1, stop = next < end ? next : end;          \
    const uint32_t low = (uint32_t)mask.key;                                                  \
    const uint32_t high = (uint32_t)(mask.key >> 32) + (uint32_t)(begin >> 32) * 0x9e3779b9U; \
    for (int64_t i = begin; i < stop; i++) body                                               \
    begin = stop;                                                                             \
  }
#define KEEP(v) (number(low, high, (uint32_t)i) < mask.below ? 0.0f : (v) * mask.scale)

typedef union {
  uint32_t i;
  float f;
} word;

CLONES void redsi_k_widen(float *restrict y, const uint16_t *restrict x, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] = ((word){.i = (uint32_t)x[i] << 16}).f;
}

CLONES void redsi_k_narrow(uint16_t *restrict y, const float *restrict x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const uint32_t u = ((word){.f = x[i]}).i, rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    y[i] = (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 0x40 : rounded);
  }
}

CLONES void redsi_k_dropout(float *restrict y, const float *restrict x, const float *restrict residual, int64_t begin,
                            int64_t end, redsi_mask mask) {
  if (mask.below == 0 && residual) {
    for (int64_t i = begin; i < end; i++) y[i] = residual[i] + x[i];
  } else if (residual) {
    LOOP({ y[i] = residual[i] + KEEP(x[i]); })
  } else {
    LOOP({ y[i] = KEEP(x[i]); })
  }
}

CLONES void redsi_k_relu(float *restrict y, const float *restrict x, int64_t begin, int64_t end, redsi_mask mask) {
  if (mask.below == 0) {
    for (int64_t i = begin; i < end; i++) y[i] = x[i] > 0 ? x[i] : 0.0f;
  } else {
    LOOP({ y[i] = KEEP(x[i] > 0 ? x[i] : 0.0f); })
  }
}

CLONES void redsi_k_relu_backward(float *restrict dx, const float *restrict g, const float *restrict y, int64_t n,
                                  float scale) {
  for (int64_t i = 0; i < n; i++) dx[i] = y[i] > 0 ? g[i] * scale : 0.0f;
}

CLONES void redsi_k_rms_norm(float *restrict y, float *restrict inverse, const float *restrict x,
                             const float *restrict w, int64_t rows, int64_t d, float eps) {
  for (int64_t r = 0; r < rows; r++) {
    const float *a = x + r * d;
    float *b = y + r * d, sum = 0;
    for (int64_t i = 0; i < d; i++) sum += a[i] * a[i];
    const float f = 1.0f / sqrtf(sum / (float)d + eps);
    inverse[r] = f;
    for (int64_t i = 0; i < d; i++) b[i] = a[i] * f * w[i];
  }
}

CLONES void redsi_k_rms_norm_input(float *restrict y, float inverse, const float *restrict w, int64_t d) {
  for (int64_t i = 0; i < d; i++) y[i] /= w[i] * inverse;
}

CLONES void redsi_k_rms_norm_backward(float *restrict dx, float *restrict dw, const float *restrict g,
                                      const float *restrict inverse, const float *restrict x,
                                      const float *restrict w, int64_t rows, int64_t d) {
  for (int64_t r = 0; r < rows; r++) {
    const float *a = x + r * d, *gr = g + r * d;
    float *b = dx + r * d, dot = 0;
    const float f = inverse[r];
    for (int64_t i = 0; i < d; i++) dot += gr[i] * w[i] * a[i];
    const float c = dot * f * f / (float)d;
    for (int64_t i = 0; i < d; i++) {
      b[i] = f * (gr[i] * w[i] - a[i] * c);
      dw[i] += gr[i] * a[i] * f;
    }
  }
}

// e^x for x <= 0 to 3e-7 relative: 2^k times the Taylor polynomial of degree 7 of
// the rest; below -87 it is 0.
static inline float exp_nonpositive(float x) {
  const float c = x < -87.0f ? -87.0f : x;
  const float k = rintf(c * 1.44269504f);
  const float r = (c - k * 0.693145752f) - k * 1.42860677e-6f;
  float p = 1.98412698e-4f;
  p = p * r + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  union {
    int32_t i;
    float f;
  } two = {.i = ((int32_t)k + 127) << 23};
  return x < -87.0f ? 0.0f : p * two.f;
}

CLONES void redsi_k_softmax(float *restrict p, const float *restrict bias, int64_t bias_stride, int64_t m, int64_t n,
                            int causal) {
  for (int64_t i = 0; i < m; i++) {
    float *row = p + i * n;
    const int64_t see = causal && i + n - m + 1 < n ? i + n - m + 1 : n;
    if (bias) {
      const float *b = bias + i * bias_stride;
      for (int64_t j = 0; j < see; j++) row[j] += b[j];
    }
    float top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < see; j++) top = row[j] > top ? row[j] : top;
    for (int64_t j = 0; j < see; j++) {
      const float e = exp_nonpositive(row[j] - top);
      row[j] = e;
      sum += e;
    }
    const float f = 1.0f / sum;
    for (int64_t j = 0; j < see; j++) row[j] *= f;
    for (int64_t j = see; j < n; j++) row[j] = 0;
  }
}

CLONES void redsi_k_softmax_backward(float *restrict dp, const float *restrict p, float *restrict dbias,
                                     int64_t bias_stride, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; i++) {
    float *d = dp + i * n, dot = 0;
    const float *row = p + i * n;
    for (int64_t j = 0; j < n; j++) dot += d[j] * row[j];
    for (int64_t j = 0; j < n; j++) d[j] = row[j] * (d[j] - dot);
    if (dbias) {
      float *b = dbias + i * bias_stride;
      for (int64_t j = 0; j < n; j++) b[j] += d[j];
    }
  }
}

CLONES float redsi_k_cross_entropy(float *restrict x, int64_t n, int64_t label, float scale) {
  const float at = x[label];
  float top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
  for (int64_t i = 0; i < n; i++) {
    const float e = exp_nonpositive(x[i] - top);
    x[i] = e;
    sum += e;
  }
  const float f = scale / sum;
  for (int64_t i = 0; i < n; i++) x[i] *= f;
  x[label] -= scale;
  return logf(sum) + top - at;
}

CLONES float redsi_k_cross_entropy_smooth(float *restrict x, int64_t n, int64_t label, float scale, float smooth) {
  const float at = x[label];
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  const float loss = redsi_k_cross_entropy(x, n, label, scale), each = scale * smooth / (float)n;
  for (int64_t i = 0; i < n; i++) x[i] -= each;
  x[label] += scale * smooth;
  return loss + smooth * (at - (float)(sum / (double)n));
}

CLONES void redsi_k_adamw(float *restrict p, float *restrict m, float *restrict v, const float *restrict g,
                          redsi_adamw a, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    m[i] += (g[i] - m[i]) * a.first;
    v[i] = v[i] * a.beta2 + g[i] * g[i] * a.second;
    p[i] = p[i] * a.decay - a.size * (m[i] / (sqrtf(v[i]) / a.root + a.eps));
  }
}

CLONES void redsi_k_square_sums(float *restrict row, float *restrict col, const float *restrict g, int64_t begin,
                                int64_t end, int64_t n) {
  for (int64_t i = begin; i < end; i++) {
    const float *a = g + i * n;
    float sum = 0;
    for (int64_t j = 0; j < n; j++) {
      const float square = a[j] * a[j];
      sum += square;
      col[j] += square;
    }
    row[i] = sum / (float)n;
  }
}

// Sums of a row in float, of rows in double.
CLONES double redsi_k_update_norm(const float *restrict g, const float *restrict r, const float *restrict c,
                                  int64_t begin, int64_t end, int64_t n) {
  double total = 0;
  for (int64_t i = begin; i < end; i++) {
    const float *a = g + i * n, f = r ? r[i] : 1.0f;
    for (int64_t from = 0; from < n; from += 4096) {
      const int64_t stop = from + 4096 < n ? from + 4096 : n;
      float sum = 0;
      if (c)
        for (int64_t j = from; j < stop; j++) {
          const float u = a[j] * f * c[j];
          sum += u * u;
        }
      else
        for (int64_t j = from; j < stop; j++) {
          const float u = a[j] * f;
          sum += u * u;
        }
      total += sum;
    }
  }
  return total;
}

CLONES void redsi_k_update(float *restrict p, const float *restrict g, const float *restrict r, const float *restrict c,
                           float scale, float decay, int64_t begin, int64_t end, int64_t n) {
  for (int64_t i = begin; i < end; i++) {
    float *b = p + i * n;
    const float *a = g + i * n, f = r ? r[i] : 1.0f;
    if (c)
      for (int64_t j = 0; j < n; j++) b[j] = b[j] * decay - scale * (a[j] * f * c[j]);
    else
      for (int64_t j = 0; j < n; j++) b[j] = b[j] * decay - scale * (a[j] * f);
  }
}

CLONES void redsi_k_add(float *restrict y, const float *restrict x, int64_t n) {
  for (int64_t i = 0; i < n; i++) y[i] += x[i];
}

enum { PANEL_DEPTH = 256 }; // of the products that are packed on the stack

CLONES static void loops(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *restrict a,
                         int64_t lda, const float *restrict b, int64_t ldb, float *restrict c, int64_t ldc) {
  for (int64_t i = 0; i < m; i++) {
    float *row = c + i * ldc;
    if (tb && !ta) {
      for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t l = 0; l < k; l++) sum += a[i * lda + l] * b[j * ldb + l];
        row[j] = alpha * sum;
      }
      continue;
    }
    for (int64_t j = 0; j < n; j++) row[j] = 0;
    for (int64_t l = 0; l < k; l++) {
      const float f = alpha * (ta ? a[l * lda + i] : a[i * lda + l]);
      if (tb)
        for (int64_t j = 0; j < n; j++) row[j] += f * b[j * ldb + l];
      else
        for (int64_t j = 0; j < n; j++) row[j] += f * b[l * ldb + j];
    }
  }
}

// The same by gemm.h; columns of b that are not contiguous are packed 32 at a time.
static void wide(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                 const float *b, int64_t ldb, float *c, int64_t ldc) {
  const int64_t row = ta ? 1 : lda, col = ta ? lda : 1;
  if (!tb) {
    redsi_k_small_product(c, ldc, a, row, col, b, ldb, m, n, k, alpha);
    return;
  }
  float panel[PANEL_DEPTH * REDSI_COLUMNS];
  for (int64_t j = 0; j < n; j += REDSI_COLUMNS) {
    const int64_t columns = n - j < REDSI_COLUMNS ? n - j : REDSI_COLUMNS;
    redsi_k_pack(panel, b + j * ldb, ldb, 1, columns, k, REDSI_COLUMNS);
    redsi_k_small_product(c + j, ldc, a, row, col, panel, REDSI_COLUMNS, m, columns, k, alpha);
  }
}

// libtorch_symbol finds a function that libtorch exports on some systems.
static void *libtorch_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }

int redsi_k_blas_threads(int n) {
  typedef int set_threads(int);
  static set_threads *set;
  static int looked;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    set = (set_threads *)libtorch_symbol("MKL_Set_Num_Threads_Local");
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  }
  return set ? set(n) : 0;
}

typedef void sgemm(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                   const int *, const float *, const int *, const float *, float *, const int *);

void redsi_k_gemm(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                  const float *b, int64_t ldb, float *c, int64_t ldc) {
  if (m > 1 && (!tb || k <= PANEL_DEPTH) && redsi_k_wide()) {
    wide(ta, tb, m, n, k, alpha, a, lda, b, ldb, c, ldc);
    return;
  }
  // libtorch's own BLAS where it exports one (MKL on x86 Linux); looked up once, the
  // same answer whichever thread is first.
  static sgemm *blas;
  static int looked;
  if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
    blas = (sgemm *)libtorch_symbol("sgemm_");
    __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
  }
  if (!blas || m == 1) {
    loops(ta, tb, m, n, k, alpha, a, lda, b, ldb, c, ldc);
    return;
  }
  // Row order is the transpose of BLAS's column order: cᵀ = op(b)ᵀ·op(a)ᵀ.
  const float beta = 0;
  const int M = (int)n, N = (int)m, K = (int)k, LDA = (int)ldb, LDB = (int)lda, LDC = (int)ldc;
  blas(tb ? "T" : "N", ta ? "T" : "N", &M, &N, &K, &alpha, b, &LDA, a, &LDB, &beta, c, &LDC);
}
