// Products of matrices, where gemm.h's are faster than libtorch's, and the linear
// layer made of them.
#pragma once
#include "common.h"
#include "gemm.h"
#include "half.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <atomic>

namespace redsi {

// Operand is a matrix as gemm.h packs it: number l of vector i at i*vector + l*number.
struct Operand {
  const float *at;
  int64_t vector, number;
  Operand from(int64_t i, int64_t l) const { return {at + i * vector + l * number, vector, number}; }
};
// rows_of and columns_of a matrix with contiguous rows.
inline Operand rows_of(const Tensor &t) { return {t.data_ptr<float>(), t.stride(0), 1}; }
inline Operand columns_of(const Tensor &t) { return {t.data_ptr<float>(), 1, t.stride(0)}; }

constexpr int64_t kDepth = 512; // numbers of a vector that are packed at a time
constexpr int64_t kShare = 96, kWideShare = 256; // most rows and columns of a thread's block, which stays in its cache

inline int64_t ceil_to(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

// shared calls f(share, thread) for all shares, each thread taking the next one.
template <typename F> void shared(int64_t shares, int64_t threads, F f) {
  std::atomic<int64_t> next{0};
  if (shares == 1) return f(0, 0);
  at::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; t++)
      for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < shares;) f(i, t);
  });
}

// Product is c [m, n] = a·b, plus c where add is set, else plus bias [n] where there is
// one; a's vectors are its rows, b's its columns. The side with fewer vectors is
// packed as a whole, the other one by shares; b not at all where it is ready.
struct Product {
  Operand a, b;
  float *c;
  int64_t ldc, m, n, k;
  const float *bias = nullptr;
  bool add = false;
  const float *ready = nullptr; // b as packed leaves it
  bool pairs = false;           // numbers are two of bfloat16

  void operator()() const {
    const bool by_rows = m >= n;
    const int64_t threads = 2 * m * n * k < 1 << 20 ? 1 : at::get_num_threads();
    const int64_t width = by_rows ? REDSI_ROWS : REDSI_COLUMNS, other = by_rows ? REDSI_COLUMNS : REDSI_ROWS;
    const int64_t vectors = by_rows ? m : n, whole = by_rows ? n : m;
    const int64_t share = std::min(by_rows ? kShare : kWideShare, ceil_to((vectors + threads - 1) / threads, width));
    const int64_t depth = std::min(k, kDepth);
    const auto f32 = at::TensorOptions().dtype(at::kFloat);
    const Tensor packed = at::empty({by_rows && ready ? 0 : ceil_to(whole, other) * depth}, f32);
    const Tensor own = at::empty({by_rows || !ready ? threads : 0, share * depth}, f32);
    float *shared_panels = packed.data_ptr<float>(), *own_panels = own.data_ptr<float>();
    const Operand &big = by_rows ? a : b, &small = by_rows ? b : a;
    for (int64_t l = 0; l < k; l += depth) {
      const int64_t d = std::min(depth, k - l);
      const bool more = add || l > 0;
      const int64_t group = 4 * other; // vectors packed at a time
      const float *panels_of_b = ready ? ready + l * ceil_to(n, REDSI_COLUMNS) : shared_panels;
      if (!by_rows || !ready) shared((whole + group - 1) / group, threads, [&](int64_t i, int64_t) {
        const Operand x = small.from(i * group, l);
        redsi_k_pack(shared_panels + i * group * d, x.at, x.vector, x.number, std::min(group, whole - i * group), d, other);
      });
      shared((vectors + share - 1) / share, threads, [&](int64_t i, int64_t thread) {
        const int64_t first = i * share, count = std::min(share, vectors - first);
        float *panels = own_panels + thread * share * depth;
        const Operand x = big.from(first, l);
        if (by_rows || !ready) redsi_k_pack(panels, x.at, x.vector, x.number, count, d, width);
        if (by_rows)
          redsi_k_packed_product(c + first * ldc, ldc, panels, REDSI_ROWS * d, panels_of_b, REDSI_COLUMNS * d,
                                 more ? nullptr : bias, count, n, d, more, pairs);
        else
          redsi_k_packed_product(c + first, ldc, shared_panels, REDSI_ROWS * d, ready ? panels_of_b + first * d : panels, REDSI_COLUMNS * d,
                                 more || !bias ? nullptr : bias + first, m, count, d, more, pairs);
      });
    }
  }
};

// multiply is out [m, n] = a·b, plus out where add is set; rows of out are contiguous.
inline void multiply(const Tensor &out, Operand a, Operand b, int64_t k, bool add = false) {
  Product{a, b, out.data_ptr<float>(), out.stride(0), out.size(0), out.size(1), k, nullptr, add}();
}

// in_pairs is a matrix as bfloat16, two numbers of a row in one; the last of an odd row is with a zero.
inline Tensor in_pairs(const Tensor &t) {
  const Tensor rounded = t.to(at::kBFloat16);
  return (t.size(1) % 2 ? at::constant_pad_nd(rounded, {0, 1}) : rounded).contiguous().view(at::kFloat);
}

// pack_rows is w [n, k] as Product takes the columns of wᵀ, again and again: [k * n rounded up]; of bfloat16 in_pairs.
inline Tensor pack_rows(const Tensor &w_) {
  TORCH_CHECK(redsi_k_wide() && fits(w_) && w_.dim() == 2, "there are no such products of it");
  const Tensor w = half(w_) ? in_pairs(w_) : w_.contiguous();
  const int64_t n = w.size(0), k = w.size(1), wide = ceil_to(n, REDSI_COLUMNS);
  const Tensor packed = at::empty({k * wide}, w.options());
  for (int64_t l = 0; l < k; l += kDepth)
    redsi_k_pack(packed.data_ptr<float>() + l * wide, w.data_ptr<float>() + l, k, 1, n, std::min(kDepth, k - l), REDSI_COLUMNS);
  return half(w_) ? packed.view(at::kBFloat16) : packed;
}

inline Tensor contiguous_rows(const Tensor &t) { return t.stride(1) == 1 ? t : t.contiguous(); }

// Linear is x·wᵀ + bias; the bias has no gradient.
struct Linear : Function<Linear> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x_, const Tensor &w_, const std::optional<Tensor> &bias) {
    const Tensor x = contiguous_rows(x_), w = contiguous_rows(w_);
    Tensor y = at::empty({x.size(0), w.size(0)}, x.options());
    Product p{rows_of(x), rows_of(w), y.data_ptr<float>(), y.stride(0), y.size(0), y.size(1), x.size(1)};
    if (bias) p.bias = bias->data_ptr<float>();
    p();
    ctx->save_for_backward({x, w});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &w = saved[1], g = contiguous_rows(grads[0]);
    Tensor dx, dw;
    if (ctx->needs_input_grad(0)) {
      dx = at::empty({x.size(0), x.size(1)}, x.options());
      multiply(dx, rows_of(g), columns_of(w), w.size(0));
    }
    if (ctx->needs_input_grad(1)) {
      dw = at::empty({w.size(0), w.size(1)}, w.options());
      multiply(dw, columns_of(g), columns_of(x), x.size(0));
    }
    return {dx, dw, Tensor()};
  }
};

inline Tensor linear_layer(const Tensor &x, const Tensor &w, const std::optional<Tensor> &bias) {
  const bool fits = redsi_k_wide() && plain(x) && plain(w) && x.dim() == 2 && w.dim() == 2 && x.size(1) == w.size(1) &&
                    x.numel() > 0 && w.numel() > 0;
  const bool fits_bias = !bias || (plain(*bias) && bias->is_contiguous() && bias->dim() == 1 &&
                                   bias->size(0) == w.size(0) && !bias->requires_grad());
  return fits && fits_bias ? Linear::apply(x, w, bias) : at::linear(x, w, bias);
}

// packed_linear is x·wᵀ + bias of a w [n, k] that pack_rows packed, without gradients; x is rounded as w is, and sums are float32.
inline Tensor packed_linear(const Tensor &x_, const Tensor &packed, int64_t n, const std::optional<Tensor> &bias) {
  const int64_t of = half(packed) ? 2 : 1;
  TORCH_CHECK((plain(x_) || (of == 2 && fits(x_))) && x_.dim() == 2 && packed.numel() == ceil_to(x_.size(1), of) * ceil_to(n, REDSI_COLUMNS),
              "the matrix was packed for other rows than of ", x_.sizes());
  TORCH_CHECK(!bias || (plain(*bias) && bias->is_contiguous() && bias->numel() == n), "the bias is not [", n, "]");
  const Tensor x = of == 2 ? in_pairs(x_) : contiguous_rows(x_), y = at::empty({x.size(0), n}, x.options());
  Product p{rows_of(x), {}, y.data_ptr<float>(), n, x.size(0), n, x.size(1)};
  p.ready = static_cast<const float *>(packed.const_data_ptr()), p.pairs = of == 2;
  if (bias) p.bias = bias->data_ptr<float>();
  if (y.numel()) p();
  return y;
}

// WideLinear is x·wᵀ of half precision, whose sums are given as the float32 that they are taken in: float16 has no number
// from 65520 on. Gradients are of x's type.
struct WideLinear : Function<WideLinear> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &w) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x, w});
    return at::mm(x, w.t(), at::kFloat);
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const auto saved = ctx->get_saved_variables();
    const Tensor &x = saved[0], &w = saved[1], g = grads[0].to(x.scalar_type());
    return {at::mm(g, w), at::mm(g.t(), x)};
  }
};

// onednn calls an operator that libtorch has for oneDNN alone, by its name: its signature in C++ is no promise.
inline Tensor onednn(const c10::OperatorHandle &op, std::vector<c10::IValue> stack) {
  const at::AutoDispatchBelowADInplaceOrView guard;
  op.callBoxed(&stack);
  return stack.at(0).toTensor();
}
inline std::optional<c10::OperatorHandle> found(const char *name, const char *overload) {
  return c10::Dispatcher::singleton().findSchema({name, overload});
}

// packed is a matrix as bfloat16, in the order in which oneDNN multiplies by it, where libtorch has that.
inline Tensor pack_bf16(const Tensor &w) {
  const Tensor rounded = w.to(at::kBFloat16).contiguous();
  const auto reorder = found("mkldnn::_reorder_linear_weight", "");
  return reorder && w.is_cpu() ? onednn(*reorder, {rounded, c10::IValue()}) : rounded;
}

// after is an activation by its name in models' config.json, or nothing: of the sums before they are rounded, where oneDNN
// computes both.
inline Tensor after(const Tensor &x, const std::string &activation) {
  if (activation.empty()) return x;
  if (activation == "relu") return at::relu(x);
  if (activation == "silu" || activation == "swish") return at::silu(x);
  return at::gelu(x, activation == "gelu" ? "none" : "tanh");
}

// packed_linear_bf16 is after(x·wᵀ + bias) plus the residual, if there is one, by a matrix that pack_bf16 gave.
inline Tensor packed_linear_bf16(const Tensor &x, const Tensor &w, const Tensor &bias, const std::optional<Tensor> &residual,
                                 const std::string &activation) {
  TORCH_CHECK(activation.empty() || !residual, "an activation and a residual");
  if (!w.is_mkldnn()) {
    const Tensor y = after(at::linear(x, w, bias), activation);
    return residual ? Tensor(y).add_(*residual) : y;
  }
  static const auto plus = found("mkldnn::_linear_pointwise", "binary"), then = found("mkldnn::_linear_pointwise", "");
  TORCH_CHECK(plus && then, "libtorch has no mkldnn::_linear_pointwise");
  if (residual) return onednn(*plus, {x, *residual, w, bias, std::string("add")});
  const bool gelu = activation.rfind("gelu", 0) == 0;
  const std::string kind = activation.empty() ? "none" : gelu ? "gelu" : activation == "silu" ? "swish" : activation;
  const std::string how = !gelu ? "" : activation == "gelu" ? "none" : "tanh";
  return onednn(*then, {x, w, bias, kind, c10::List<std::optional<at::Scalar>>(), how});
}

} // namespace redsi
