// Mean cross entropy of a language-model head, of labels that may be smoothed. The logits of a block of rows are
// computed, turned into their gradient in place and used for both products, so
// that they are never all in memory, and nothing is computed twice. In bfloat16 products are libtorch's, and what lies
// between them is float32, a row at a time.
#pragma once
#include "half.h"
#include "linear.h"

namespace redsi {

// kRows and kHalfRows are rows of logits at a time, of float32 and of bfloat16.
constexpr int64_t kRows = 512, kHalfRows = 256;

struct HeadLoss : Function<HeadLoss> {
  static Tensor forward(AutogradContext *ctx, const Tensor &h_, const Tensor &w_, const Tensor &labels_,
                        int64_t ignore, double smooth, bool gradients) {
    const Tensor h = h_.contiguous(), w = w_.contiguous(), labels = labels_.contiguous();
    const int64_t n = h.size(0), vocabulary = w.size(0);
    const int64_t *label = labels.data_ptr<int64_t>();
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
      TORCH_CHECK(label[i] == ignore || (label[i] >= 0 && label[i] < vocabulary), "label ", label[i], " at row ", i,
                  " is outside of the vocabulary of ", vocabulary);
      count += label[i] != ignore;
    }
    const float scale = float(1.0 / double(count));
    Tensor dh = gradients ? at::empty_like(h) : Tensor(), dw = gradients ? at::empty_like(w) : Tensor();
    if (gradients && n == 0) dw.zero_();
    const int64_t most = half(w) ? kHalfRows : kRows;
    Tensor buffer = at::empty({std::min(n, most), vocabulary}, h.options());
    const bool wide = redsi_k_wide() && !half(w);
    std::vector<float> losses(static_cast<size_t>(n), 0.0f);
    for (int64_t from = 0; from < n; from += most) {
      const int64_t rows = std::min(most, n - from);
      Tensor logits = buffer.narrow(0, 0, rows); // [rows, V]
      const Tensor states = h.narrow(0, from, rows);
      if (wide)
        multiply(logits, rows_of(states), rows_of(w), h.size(1));
      else
        at::mm_out(logits, states, w.t());
      at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        std::vector<float> wider(half(w) ? size_t(vocabulary) : 0);
        for (int64_t r = begin; r < end; r++) {
          const bool counts = label[from + r] != ignore;
          const Block row(logits, r * vocabulary, vocabulary, wider.data());
          float &loss = losses[size_t(from + r)], *x = row.at;
          if (counts) row.read();
          if (!counts)
            std::memset(x, 0, sizeof(float) * size_t(vocabulary));
          else if (smooth == 0)
            loss = redsi_k_cross_entropy(x, vocabulary, label[from + r], scale);
          else
            loss = redsi_k_cross_entropy_smooth(x, vocabulary, label[from + r], scale, float(smooth));
          if (gradients) row.written();
        }
      });
      if (!gradients) continue;
      Tensor part = dh.narrow(0, from, rows);
      if (wide) {
        multiply(part, rows_of(logits), columns_of(w), vocabulary);
        multiply(dw, columns_of(logits), columns_of(states), rows, from > 0);
      } else {
        at::mm_out(part, logits, w);
        at::addmm_out(dw, dw, logits.t(), states, from == 0 ? 0 : 1, 1);
      }
    }
    double sum = 0;
    for (float loss : losses) sum += loss;
    if (gradients) {
      ctx->saved_data["dh"] = dh;
      ctx->saved_data["dw"] = dw;
    }
    return at::scalar_tensor(sum / double(count), h.options().dtype(at::kFloat));
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    Tensor dh = ctx->saved_data["dh"].toTensor(), dw = ctx->saved_data["dw"].toTensor();
    ctx->saved_data.clear();
    const double g = grads[0].item<double>();
    if (g != 1) {
      dh = dh * g;
      dw = dw * g;
    }
    return {dh, dw, Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

inline Tensor head_loss(const Tensor &h, const Tensor &w, const Tensor &labels, int64_t ignore, double smooth) {
  TORCH_CHECK(h.dim() == 2 && w.dim() == 2 && h.size(1) == w.size(1), "the weight does not fit the hidden states");
  TORCH_CHECK(labels.dim() == 1 && labels.size(0) == h.size(0) && labels.scalar_type() == at::kLong,
              "labels must be int64, one per row");
  TORCH_CHECK(fits(h) && w.scalar_type() == h.scalar_type(),
              "operands are not of one type, float32 or bfloat16, on a CPU"); // else slices.h
  const bool gradients = at::GradMode::is_enabled() && (h.requires_grad() || w.requires_grad());
  return HeadLoss::apply(h, w, labels, ignore, smooth, gradients);
}

} // namespace redsi
