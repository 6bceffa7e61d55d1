// Norms, dropout and sums of rows, of few launches each on a card.
#pragma once
#include "common.h"

namespace redsi {

// FusedRMSNorm is one kernel forward and CUDA's own backward, which a CPU has from cpu_kernels.h.
struct FusedRMSNorm : Function<FusedRMSNorm> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x_, const Tensor &w, double eps) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor x = x_.contiguous();
    const auto [y, inverse] = at::_fused_rms_norm(x, w.sizes(), w, eps);
    ctx->save_for_backward({x, w, inverse});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const auto saved = ctx->get_saved_variables();
    const auto [dx, dw] = at::_fused_rms_norm_backward(grads[0].contiguous(), saved[0], saved[1].sizes(), saved[2],
                                                       saved[1], {ctx->needs_input_grad(0), ctx->needs_input_grad(1)});
    return {dx, dw, Tensor()};
  }
};

// ComposedRelu is dropout(max(x, 0)). Its result says which elements went on: nothing else is kept.
struct ComposedRelu : Function<ComposedRelu> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x, double p, int64_t key) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const Tensor y = seeded_dropout(at::relu(x), p, uint64_t(key));
    ctx->save_for_backward({y});
    ctx->saved_data["p"] = p;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const at::AutoDispatchBelowADInplaceOrView guard;
    const double p = ctx->saved_data["p"].toDouble();
    Tensor dx = at::threshold_backward(grads[0], ctx->get_saved_variables()[0], 0);
    if (p > 0) dx.mul_(1 / (1 - p));
    return {dx, Tensor(), Tensor()};
  }
};

// add_rows_on_card is to[index[i]] += from[i]: rows are sorted by their index first, so that sums have one order.
// NOTE index_add_ adds in the order in which threads come.
inline void add_rows_on_card(const Tensor &to, const Tensor &index, const Tensor &from) {
  c10::List<std::optional<Tensor>> at;
  at.push_back(index);
  Tensor self = to;
  at::_index_put_impl_(self, at, from.to(to.scalar_type()), true, true); // unsafe: indexes are not read to be checked
}

} // namespace redsi
