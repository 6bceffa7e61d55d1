//go:build !notorch

// Kernels for the CPU of operators that libtorch has for CUDA only, so that the code that calls them on a card
// runs where one is emulated: the same arguments, results of the same shapes, strides and types (testdata/efficient.json
// holds them against libtorch's own account), computed in float32.
#include "common.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/library.h>

namespace redsi {
namespace {

// kept is the mask of dropout that seed draws, scaled.
Tensor kept(const Tensor &like, double p, uint64_t seed) {
  return at::empty_like(like, at::MemoryFormat::Contiguous)
      .bernoulli_(1 - p, at::detail::createCPUGenerator(seed))
      .div_(1 - p);
}

Tensor scores_of(const Tensor &q, const Tensor &k, const std::optional<Tensor> &bias, bool causal, double scale) {
  TORCH_CHECK(!causal, "a causal mask has to be in the bias");
  const Tensor scores = at::matmul(q.to(at::kFloat), k.to(at::kFloat).transpose(2, 3)).mul_(scale);
  return bias && bias->defined() ? scores.add_(*bias) : scores;
}

// like_rows is t [n, heads, rows, d] as the kernels lay it: [n, rows, heads, d].
Tensor like_rows(const Tensor &t, at::ScalarType type) {
  return t.transpose(1, 2).to(type).contiguous().transpose(1, 2);
}

double scale_of(const Tensor &q, std::optional<double> scale) { return scale ? *scale : 1 / std::sqrt(double(q.size(3))); }

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_forward(const Tensor &q, const Tensor &k, const Tensor &v,
                                                             const std::optional<Tensor> &bias, bool records, double p,
                                                             bool causal, std::optional<double> scale) {
  const Tensor scores = scores_of(q, k, bias, causal, scale_of(q, scale));
  const int64_t n = q.size(0), heads = q.size(1), m = q.size(2);
  Tensor sums = at::empty({n, heads, records ? (m + 31) / 32 * 32 : 0}, scores.options());
  if (records) sums.slice(2, 0, m).copy_(scores.logsumexp(-1));
  const Tensor seed = at::empty({}, at::kLong), offset = at::zeros({}, at::kLong);
  Tensor weights = at::softmax(scores, -1);
  if (p > 0) {
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    {
      std::lock_guard<std::mutex> lock(generator.mutex());
      *seed.data_ptr<int64_t>() = int64_t(generator.get<at::CPUGeneratorImpl>()->random64() >> 1);
    }
    weights = weights * kept(weights, p, uint64_t(*seed.data_ptr<int64_t>()));
  } else {
    seed.zero_();
  }
  return {like_rows(at::matmul(weights, v.to(at::kFloat)), q.scalar_type()), sums, seed, offset};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> efficient_backward(const Tensor &grad, const Tensor &q, const Tensor &k,
                                                              const Tensor &v, const Tensor &bias, const Tensor &,
                                                              const Tensor &sums, const Tensor &seed, const Tensor &,
                                                              double p, std::array<bool, 4> asked, bool causal,
                                                              std::optional<double> scale_) {
  const double scale = scale_of(q, scale_);
  const int64_t m = q.size(2), l = k.size(2);
  const Tensor scores = scores_of(q, k, bias, causal, scale);
  const Tensor weights = scores.sub(sums.slice(2, 0, m).unsqueeze(-1)).exp_();
  const Tensor g = grad.to(at::kFloat);
  Tensor dropped = weights, dp = at::matmul(g, v.to(at::kFloat).transpose(2, 3));
  if (p > 0) {
    const Tensor mask = kept(weights, p, uint64_t(*seed.data_ptr<int64_t>()));
    dropped = weights * mask;
    dp.mul_(mask);
  }
  const Tensor ds = weights * (dp - (dp * weights).sum(-1, true));
  const at::ScalarType type = q.scalar_type();
  Tensor dbias;
  if (asked[3] && bias.defined()) {
    dbias = at::empty({q.size(0), q.size(1), m, (l + 15) / 16 * 16}, bias.options()).slice(3, 0, l);
    dbias.copy_(ds);
  }
  return {like_rows(at::matmul(ds, k.to(at::kFloat)).mul_(scale), type),
          like_rows(at::matmul(ds.transpose(2, 3), q.to(at::kFloat)).mul_(scale), type),
          like_rows(at::matmul(dropped.transpose(2, 3), g), type), dbias};
}

// The gradients of y = x·r·w, with r = 1/rms(x) of each row: dx = r·(g·w - x·r·mean(g·w·x·r)).
std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor &g, const Tensor &x, at::IntArrayRef shape, const Tensor &r_,
                                             const std::optional<Tensor> &w, std::array<bool, 2> asked) {
  TORCH_CHECK(shape.size() == 1, "the norm of more than the last dimension");
  const Tensor r = r_.to(at::kFloat), unit = x.to(at::kFloat) * r, wide = g.to(at::kFloat);
  const Tensor gw = w ? wide * w->to(at::kFloat) : wide;
  Tensor dx, dw;
  if (asked[0]) dx = (gw - unit * (gw * unit).mean(-1, true)).mul_(r).to(x.scalar_type());
  if (asked[1] && w) dw = (wide * unit).reshape({-1, shape[0]}).sum(0).to(w->scalar_type());
  return {dx, dw};
}

} // namespace
} // namespace redsi

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_scaled_dot_product_efficient_attention", TORCH_FN(redsi::efficient_forward));
  m.impl("_scaled_dot_product_efficient_attention_backward", TORCH_FN(redsi::efficient_backward));
  m.impl("_fused_rms_norm_backward", TORCH_FN(redsi::rms_norm_backward));
}
