#include "autograd.h"
#include "multi.h"

#include <torch/csrc/autograd/autograd.h>

using namespace redsi;

extern "C" {

char *redsi_backward(void **outs, void **grads, int64_t n, void **leaves, int64_t m, void **out) {
  return guarded([&] {
    const auto all = torch::autograd::grad(list(outs, n), list(leaves, m), list(grads, n), std::nullopt, false, true);
    for (int64_t i = 0; i < m; i++) out[i] = all[size_t(i)].defined() ? new Tensor(all[size_t(i)]) : nullptr;
  });
}

char *redsi_split(void **out, void *t, const int64_t *sizes, int64_t n, int64_t dim) {
  return guarded([&] {
    const auto parts = at::split_with_sizes(deref(t), at::IntArrayRef(sizes, size_t(n)), dim);
    for (int64_t i = 0; i < n; i++) out[i] = new Tensor(parts[size_t(i)]);
  });
}

char *redsi_place(void *t_, void *at_) {
  return guarded([&] {
    const at::NoGradGuard guard;
    const Tensor &t = deref(t_), &place = deref(at_);
    TORCH_CHECK(t.sizes() == place.sizes() && t.scalar_type() == place.scalar_type() && t.device() == place.device(),
                "there is no room of its shape and type");
    Tensor(t).set_data(place.detach());
  });
}

char *redsi_add_all(void **to, void **from, int64_t n) {
  return guarded([&] {
    const at::NoGradGuard guard;
    const auto sums = list(to, n);
    at::_foreach_add_(sums, list(from, n));
  });
}

} // extern "C"
