// Loops over contiguous float32 arrays, for one thread's share of the rows.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// bfloat16 as float32, and float32 to the nearest bfloat16, of two the even one; NaN stays NaN.
void redsi_k_widen(float *y, const uint16_t *x, int64_t n);
void redsi_k_narrow(uint16_t *y, const float *x, int64_t n);

// A dropout mask: element i is dropped where the i-th number of key is below
// `below`, else multiplied by scale. below = 0 keeps everything as it is.
typedef struct {
  uint64_t key;
  uint32_t below;
  float scale;
} redsi_mask;

// y = (residual or 0) + mask(x); residual may be NULL; elements begin … end-1.
void redsi_k_dropout(float *y, const float *x, const float *residual, int64_t begin, int64_t end, redsi_mask mask);
// y = mask(max(x, 0)).
void redsi_k_relu(float *y, const float *x, int64_t begin, int64_t end, redsi_mask mask);
// dx = g*scale where y > 0, else 0.
void redsi_k_relu_backward(float *dx, const float *g, const float *y, int64_t n, float scale);

// Rows of d: inverse[r] = 1/sqrt(mean(x²)+eps), y = x*inverse*w.
void redsi_k_rms_norm(float *y, float *inverse, const float *x, const float *w, int64_t rows, int64_t d, float eps);
// A row of y becomes what its x was.
void redsi_k_rms_norm_input(float *y, float inverse, const float *w, int64_t d);
// With u = g*w: dx = inverse*(u - x*inverse²*mean(u*x)); dw += sum over rows of g*x*inverse.
void redsi_k_rms_norm_backward(float *dx, float *dw, const float *g, const float *inverse, const float *x,
                               const float *w, int64_t rows, int64_t d);

// p [m, n], in place: softmax of each row plus its row of bias (or NULL). Causal:
// row i sees columns 0 … i+n-m, the others become 0.
void redsi_k_softmax(float *p, const float *bias, int64_t bias_stride, int64_t m, int64_t n, int causal);
// ds = p*(dp - sum(dp*p)) by row, in place of dp; added to dbias where that is not NULL.
void redsi_k_softmax_backward(float *dp, const float *p, float *dbias, int64_t bias_stride, int64_t m, int64_t n);

// x, one row of logits: returns log(sum(exp(x))) - x[label] and leaves
// (softmax(x) - onehot(label)) * scale in x.
float redsi_k_cross_entropy(float *x, int64_t n, int64_t label, float scale);

// The same with a label that keeps 1-smooth of its weight; the rest is spread evenly over all n.
float redsi_k_cross_entropy_smooth(float *x, int64_t n, int64_t label, float scale, float smooth);

// AdamW's numbers of one update: p = p*decay - size*m/(sqrt(v)/root + eps), m and v being running means
// of g and g², in which the new ones weigh first (1-beta1) and second (1-beta2).
typedef struct {
  float decay, first, beta2, second, size, root, eps;
} redsi_adamw;
void redsi_k_adamw(float *p, float *m, float *v, const float *g, redsi_adamw a, int64_t begin, int64_t end);

// Adafactor's sums over rows begin … end-1 of g [·, n]: row[i] = mean of g², and
// col[j] += g².
void redsi_k_square_sums(float *row, float *col, const float *g, int64_t begin, int64_t end, int64_t n);
// The sum of (g*r*c)² over rows begin … end-1; r or c may be NULL for ones.
double redsi_k_update_norm(const float *g, const float *r, const float *c, int64_t begin, int64_t end, int64_t n);
// p = p*decay - scale*g*r*c over rows begin … end-1.
void redsi_k_update(float *p, const float *g, const float *r, const float *c, float scale, float decay, int64_t begin,
                    int64_t end, int64_t n);

// y += x, n elements.
void redsi_k_add(float *y, const float *x, int64_t n);

// How many threads BLAS may use in this thread (0: as many as for all); returns what
// it was. Small products inside of a share of the work must not start threads.
int redsi_k_blas_threads(int n);

// c [m, n] = alpha*op(a)*op(b), row order; op transposes where ta or tb is set.
void redsi_k_gemm(int ta, int tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
                  const float *b, int64_t ldb, float *c, int64_t ldc);

#ifdef __cplusplus
}
#endif
