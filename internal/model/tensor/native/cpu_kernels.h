// Kernels for the CPU of operators that libtorch has for CUDA only, so that the code that calls them runs on a CPU in half
// precision, and on a card of software (fakecard): the same arguments, results of the same shapes, strides and types
// (fakecard/testdata/efficient.json holds them against libtorch's own account), computed in float32.
#pragma once
#include "common.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/library.h>

namespace redsi {
namespace cpu {

// Sequences are those of one call: of a batch, or packed by cumulative lengths, n+1 of each.
struct Sequences {
  const Tensor &q, &k;
  const std::optional<Tensor> &of_q, &of_k;
  double scale, p;
  int64_t mask;
  at::Generator random; // of dropout

  Sequences(const Tensor &q, const Tensor &k, const std::optional<Tensor> &of_q, const std::optional<Tensor> &of_k,
            std::optional<double> scale, double p, int64_t mask, const Tensor &seed)
      : q(q), k(k), of_q(of_q), of_k(of_k), scale(scale ? *scale : 1 / std::sqrt(double(q.size(3)))), p(p), mask(mask),
        random(at::detail::createCPUGenerator(uint64_t(*seed.data_ptr<int64_t>()))) {
    TORCH_CHECK(mask == 0 || mask == 2, "a mask of kind ", mask);
    TORCH_CHECK(!of_q || (of_q->scalar_type() == at::kInt && of_k->scalar_type() == at::kInt && q.size(0) == 1),
                "cumulative lengths are not int32, or of a batch");
  }
  int64_t size() const { return of_q ? of_q->size(0) - 1 : q.size(0); }
  // rows of sequence i of t [n, rows, heads, d], as [heads, rows, d].
  Tensor rows(const Tensor &t, const std::optional<Tensor> &of, int64_t i) const {
    if (!of) return t.select(0, i).transpose(0, 1);
    const int *ends = of->data_ptr<int>();
    return t.select(0, 0).narrow(0, ends[i], ends[i + 1] - ends[i]).transpose(0, 1);
  }
  Tensor of_queries(const Tensor &t, int64_t i) const { return rows(t, of_q, i); }
  Tensor of_keys(const Tensor &t, int64_t i) const { return rows(t, of_k, i); }

  Tensor scores(const std::optional<Tensor> &bias, int64_t i) const { // [heads, m, l]
    const Tensor a = of_queries(q, i).to(at::kFloat), b = of_keys(k, i).to(at::kFloat);
    Tensor s = at::bmm(a, b.transpose(1, 2)).mul_(scale);
    if (bias && bias->defined()) s.add_(bias->select(0, i));
    if (mask == 2) s.masked_fill_(at::ones({s.size(1), s.size(2)}, at::kBool).triu(s.size(2) - s.size(1) + 1), -INFINITY);
    return s;
  }
  // kept is the mask of dropout, scaled; drawn in the order of the sequences.
  Tensor kept(const Tensor &like) {
    return at::empty_like(like, at::MemoryFormat::Contiguous).bernoulli_(1 - p, random).div_(1 - p);
  }
};

inline std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt>
efficient_forward(const Tensor &q, const Tensor &k, const Tensor &v, const std::optional<Tensor> &bias,
                  const std::optional<Tensor> &of_q, const std::optional<Tensor> &of_k, std::optional<int64_t> most_q,
                  std::optional<int64_t> most_k, double p, int64_t mask, bool records, std::optional<double> scale,
                  const std::optional<Tensor> &, std::optional<int64_t>) {
  TORCH_CHECK(!of_q || !bias, "cumulative lengths with a bias");
  TORCH_CHECK(!bias || (bias->scalar_type() == q.scalar_type() && bias->stride(3) == 1), "the bias lies otherwise");
  const Tensor seed = at::zeros({}, at::kLong), offset = at::zeros({}, at::kLong);
  if (p > 0) {
    at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    *seed.data_ptr<int64_t>() = int64_t(generator.get<at::CPUGeneratorImpl>()->random64() >> 1);
  }
  Sequences of(q, k, of_q, of_k, scale, p, mask, seed);
  const int64_t m = of_q ? *most_q : q.size(1), l = of_k ? *most_k : k.size(1);
  const Tensor out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  const Tensor sums = at::empty({of.size(), q.size(2), records ? (m + 31) / 32 * 32 : 0}, q.options().dtype(at::kFloat));
  for (int64_t i = 0; i < of.size(); i++) {
    const Tensor scores = of.scores(bias, i);
    if (records) sums.select(0, i).slice(1, 0, scores.size(1)).copy_(scores.logsumexp(-1));
    Tensor weights = at::softmax(scores, -1);
    if (p > 0) weights = weights * of.kept(weights);
    of.of_queries(out, i).copy_(at::bmm(weights, of.of_keys(v, i).to(at::kFloat)));
  }
  return {out, sums, seed, offset, c10::SymInt(m), c10::SymInt(l)};
}

inline std::tuple<Tensor, Tensor, Tensor, Tensor>
efficient_backward(const Tensor &grad, const Tensor &q, const Tensor &k, const Tensor &v,
                   const std::optional<Tensor> &bias, const Tensor &, const std::optional<Tensor> &of_q,
                   const std::optional<Tensor> &of_k, int64_t, int64_t, const Tensor &sums, double p,
                   const Tensor &seed, const Tensor &, int64_t mask, bool of_bias, std::optional<double> scale,
                   std::optional<int64_t>, std::optional<int64_t>, bool together) {
  Sequences of(q, k, of_q, of_k, scale, p, mask, seed);
  Tensor dq, dk, dv, dbias;
  if (together) {
    TORCH_CHECK(q.sizes() == k.sizes(), "gradients can not lie together");
    const Tensor three = at::empty({q.size(0), q.size(1), 3, q.size(2), q.size(3)}, q.options());
    dq = three.select(2, 0), dk = three.select(2, 1), dv = three.select(2, 2);
  } else {
    dq = at::empty(q.sizes(), q.options()), dk = at::empty(k.sizes(), q.options()), dv = at::empty(v.sizes(), q.options());
  }
  if (of_bias) {
    auto sizes = bias->sizes().vec();
    const int64_t l = sizes[3];
    sizes[3] = (l + 15) / 16 * 16;
    dbias = at::empty(sizes, bias->options()).slice(3, 0, l);
  }
  for (int64_t i = 0; i < of.size(); i++) {
    const Tensor scores = of.scores(bias, i), g = of.of_queries(grad, i).to(at::kFloat);
    const Tensor weights = scores.sub(sums.select(0, i).slice(1, 0, scores.size(1)).unsqueeze(-1)).exp_();
    Tensor dropped = weights, dp = at::bmm(g, of.of_keys(v, i).to(at::kFloat).transpose(1, 2));
    if (p > 0) {
      const Tensor kept = of.kept(weights);
      dropped = weights * kept;
      dp.mul_(kept);
    }
    const Tensor ds = weights * (dp - (dp * weights).sum(-1, true));
    of.of_queries(dq, i).copy_(at::bmm(ds, of.of_keys(k, i).to(at::kFloat)).mul_(of.scale));
    of.of_keys(dk, i).copy_(at::bmm(ds.transpose(1, 2), of.of_queries(q, i).to(at::kFloat)).mul_(of.scale));
    of.of_keys(dv, i).copy_(at::bmm(dropped.transpose(1, 2), g));
    if (of_bias) dbias.select(0, i).copy_(ds);
  }
  return {dq, dk, dv, dbias};
}

// The gradients of y = x·r·w, with r = 1/rms(x) of each row: dx = r·(g·w - x·r·mean(g·w·x·r)).
inline std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor &g, const Tensor &x, at::IntArrayRef shape, const Tensor &r_,
                                             const std::optional<Tensor> &w, std::array<bool, 2> asked) {
  TORCH_CHECK(shape.size() == 1, "the norm of more than the last dimension");
  const Tensor r = r_.to(at::kFloat), unit = x.to(at::kFloat) * r, wide = g.to(at::kFloat);
  const Tensor gw = w ? wide * w->to(at::kFloat) : wide;
  Tensor dx, dw;
  if (asked[0]) dx = (gw - unit * (gw * unit).mean(-1, true)).mul_(r).to(x.scalar_type());
  if (asked[1] && w) dw = (wide * unit).reshape({-1, shape[0]}).sum(0).to(w->scalar_type());
  return {dx, dw};
}

// A product of half precision whose result is of another type.
inline Tensor mm_dtype(const Tensor &a, const Tensor &b, at::ScalarType type) { return at::mm(a.to(type), b.to(type)); }

} // namespace cpu
} // namespace redsi
