// The loss of a language-model head on a card, or in float16: logits are there for a slice of rows at a time.
#pragma once
#include "common.h"

namespace redsi {

// Bytes of logits, of their logarithms and of what is between them at a time.
constexpr int64_t kSlice = int64_t(256) << 20;

// slice_of is rows of a slice: all if they fit, else a multiple of 8. Logits in half precision are float32 for a
// moment where there is no kernel from one to the other.
inline int64_t slice_of(int64_t n, int64_t vocabulary, int64_t size) {
  const int64_t fit = kSlice / std::max<int64_t>(1, vocabulary * (size + (size < 4 ? 8 : 4)));
  return std::max<int64_t>(1, fit >= n ? n : fit >= 8 ? fit / 8 * 8 : fit);
}

// HeadSlices computes gradients along with the loss. Products are of h's type, what lies between them is float32;
// scale is in the gradients before they are rounded. Those of a last one, from which gradients begin, by 1, are what
// they are; of another one they are multiplied by what follows.
struct HeadSlices : Function<HeadSlices> {
  static Tensor forward(AutogradContext *ctx, const Tensor &h, const Tensor &w, const Tensor &labels,
                        const std::optional<Tensor> &scale, int64_t ignore, double smooth, bool last, bool of_h,
                        bool of_w) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const int64_t n = h.size(0), vocabulary = w.size(0), rows = slice_of(n, vocabulary, h.element_size());
    const auto f32 = h.options().dtype(at::kFloat).requires_grad(false);
    const Tensor counts = labels.ne(ignore), label = at::where(counts, labels, 0);
    Tensor weight = counts.to(at::kFloat); // of each row in the loss
    weight.div_(weight.sum());
    if (scale) weight.mul_(*scale);
    Tensor dh = of_h ? at::empty_like(h) : Tensor(), dw = of_w ? at::empty_like(w) : Tensor();
    if (of_w && n == 0) dw.zero_();
    const Tensor losses = at::empty({n, 1}, f32), buffer = at::empty({std::min(n, rows), vocabulary}, h.options());
    for (int64_t from = 0; from < n; from += rows) {
      const int64_t some = std::min(rows, n - from);
      Tensor logits = buffer.narrow(0, 0, some), loss = losses.narrow(0, from, some);
      const Tensor states = h.narrow(0, from, some), column = label.narrow(0, from, some).unsqueeze(1);
      at::mm_out(logits, states, w.t());
      const Tensor p = at::log_softmax(logits, 1, at::kFloat);
      at::gather_out(loss, p, 1, column);
      if (smooth != 0) loss.mul_(1 - smooth).add_(p.sum(1, true), smooth / double(vocabulary));
      if (!of_h && !of_w) continue;
      p.exp_();
      if (smooth != 0) p.sub_(smooth / double(vocabulary));
      p.scatter_(1, column, smooth - 1, "add");
      at::mul_out(logits, p, weight.narrow(0, from, some).unsqueeze(1)); // gradients take their place
      if (of_h) {
        Tensor part = dh.narrow(0, from, some);
        at::mm_out(part, logits, w);
      }
      if (of_w && from == 0)
        at::mm_out(dw, logits.t(), states);
      else if (of_w)
        dw.addmm_(logits.t(), states);
    }
    ctx->saved_data["last"] = last;
    if (of_h) ctx->saved_data["dh"] = dh;
    if (of_w) ctx->saved_data["dw"] = dw;
    return at::dot(losses.view({n}), weight).neg_();
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    variable_list out(9);
    const char *names[] = {"dh", "dw"};
    const bool last = ctx->saved_data["last"].toBool();
    for (size_t i = 0; i < 2; i++) {
      const auto it = ctx->saved_data.find(names[i]);
      if (it == ctx->saved_data.end()) continue;
      out[i] = it->second.toTensor();
      if (!last) out[i].mul_(grads[0]);
    }
    ctx->saved_data.clear();
    return out;
  }
};

inline Tensor head_slices(const Tensor &h, const Tensor &w, const Tensor &labels, int64_t ignore, double smooth,
                          const std::optional<Tensor> &scale, bool last) {
  TORCH_CHECK(h.dim() == 2 && w.dim() == 2 && h.size(1) == w.size(1) && h.scalar_type() == w.scalar_type(),
              "the weight does not fit the hidden states");
  TORCH_CHECK(labels.dim() == 1 && labels.size(0) == h.size(0) && labels.scalar_type() == at::kLong,
              "labels must be int64, one per row");
  TORCH_CHECK(!scale || scale->numel() == 1, "the scale is not one number");
  const bool records = at::GradMode::is_enabled();
  return HeadSlices::apply(h.contiguous(), w.contiguous(), labels,
                           scale ? std::optional<Tensor>(scale->reshape(at::IntArrayRef{})) : scale, ignore, smooth,
                           last, records && h.requires_grad(), records && w.requires_grad());
}

} // namespace redsi
