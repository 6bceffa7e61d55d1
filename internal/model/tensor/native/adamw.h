// One update of AdamW (Loshchilov and Hutter, 2019), as torch.optim.AdamW makes it, and the sum of
// squares that gradients are clipped by.
#pragma once
#include "adafactor.h"

namespace redsi {

inline void adamw(const Tensor &p, const Tensor &g_, const Tensor &m, const Tensor &v, const redsi_adamw_args &a) {
  const at::NoGradGuard guard;
  TORCH_CHECK(p.sizes() == g_.sizes(), "the gradient has shape ", g_.sizes());
  TORCH_CHECK(p.sizes() == m.sizes() && p.sizes() == v.sizes(), "the state does not fit the parameter");
  const double size = a.lr / (1 - std::pow(a.beta1, double(a.step)));
  const double root = std::sqrt(1 - std::pow(a.beta2, double(a.step)));
  const double decay = 1 - a.lr * a.weight_decay;
  const auto fits = [](const Tensor &t) { return plain(t) && t.is_contiguous(); };
  TORCH_CHECK(fits(p) && g_.is_cpu() && fits(m) && fits(v), kOfCPU);
  const Tensor g = widened(g_);
  const redsi_adamw args = {float(decay), float(1 - a.beta1), float(a.beta2), float(1 - a.beta2), float(size), float(root),
                            float(a.eps)};
  float *to = p.data_ptr<float>(), *first = m.data_ptr<float>(), *second = v.data_ptr<float>();
  const float *from = g.data_ptr<float>();
  at::parallel_for(0, p.numel(), kGrain, [&](int64_t begin, int64_t end) {
    redsi_k_adamw(to, first, second, from, args, begin, end);
  });
}

inline double square_sum(const Tensor &t_) {
  const at::NoGradGuard guard;
  if (!plain(t_)) return t_.to(at::kDouble).square().sum().item<double>();
  const Tensor t = t_.contiguous();
  const float *values = t.data_ptr<float>();
  return sum_rows(t.numel(), 1, [&](int64_t begin, int64_t end) {
    return begin == end ? 0.0 : redsi_k_update_norm(values + begin, nullptr, nullptr, 0, 1, end - begin);
  });
}

} // namespace redsi
