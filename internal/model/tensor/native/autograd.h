// Gradients of several results at once, and tensors that lie in one.
#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

// The gradients of the sum of outs times grads with respect to the leaves: out[i] is NULL where nothing
// depends on leaf i.
char *redsi_backward(void **outs, void **grads, int64_t n, void **leaves, int64_t m, void **out);
// The n parts of t along dim, views of it, whose gradients are put together by one operation.
char *redsi_split(void **out, void *t, const int64_t *sizes, int64_t n, int64_t dim);
// Makes t's memory that of at, which has t's shape and type.
char *redsi_place(void *t, void *at);
// to[i] += from[i], n tensors.
char *redsi_add_all(void **to, void **from, int64_t n);

#ifdef __cplusplus
}
#endif
