// Activations with kernels of libtorch's that round otherwise in whole vectors than in what is left of a range, so that a
// result would depend on where a thread's range ends: tanh's gelu and silu. Ranges are cut at whole vectors here, and
// results are libtorch's on one thread. Its exact gelu on a CPU, oneDNN's, has the same bytes wherever it is cut.
#pragma once
#include "common.h"

namespace redsi {

enum { kGeluTanh, kSilu }; // native.h

constexpr int64_t kWhole = 256; // elements: a multiple of what libtorch's loops take at once, of every type

// by_vectors calls f(part of a …) for ranges of a thread each; the tensors are as large, and contiguous.
template <typename F, typename... T> void by_vectors(F f, const T &...a) {
  const int64_t n = std::get<0>(std::tie(a...)).numel();
  at::parallel_for(0, (n + kWhole - 1) / kWhole, kGrain / kWhole, [&](int64_t begin, int64_t end) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const int64_t from = begin * kWhole, size = std::min(end * kWhole, n) - from;
    f(a.view(-1).narrow(0, from, size)...);
  });
}

struct Activation : Function<Activation> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x_, int64_t kind) {
    const Tensor x = x_.contiguous();
    Tensor y = at::empty_like(x);
    by_vectors([kind](Tensor y, Tensor x) { kind == kSilu ? at::silu_out(y, x) : at::gelu_out(y, x, "tanh"); }, y, x);
    ctx->save_for_backward({x});
    ctx->saved_data["kind"] = kind;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Tensor x = ctx->get_saved_variables()[0], g = grads[0].contiguous();
    Tensor dx = at::empty_like(x);
    const int64_t kind = ctx->saved_data["kind"].toInt();
    by_vectors(
        [kind](Tensor dx, Tensor g, Tensor x) {
          kind == kSilu ? at::silu_backward_out(dx, g, x) : at::gelu_backward_out(dx, g, x, "tanh");
        },
        dx, g, x);
    return {dx, Tensor()};
  }
};

inline Tensor activation(const Tensor &x, int64_t kind) {
  if (x.is_cpu()) return Activation::apply(x, kind);
  return kind == kSilu ? at::silu(x) : at::gelu(x, "tanh");
}

} // namespace redsi
