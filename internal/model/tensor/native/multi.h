// Updates of all parameters at once, for a card: few launches, whatever the number of parameters, and
// nothing that the host waits for. What decides about an update is on the device: found is 1 where its
// loss or gradients are not finite, and then nothing changes; divisor is what the gradients are to be
// divided by; rate is the learning rate. All are float32 [1], and so whoever records such a call may replay it
// with other values. Everything is libtorch's, so that a CPU runs it too.
#pragma once
#include "common.h"

#include <map>

namespace redsi {

using Tensors = std::vector<Tensor>;

inline Tensors list(void *const *at, int64_t n) {
  Tensors all;
  all.reserve(size_t(n));
  for (int64_t i = 0; i < n; i++) all.push_back(deref(at[i]));
  return all;
}

inline Tensor flat(const Tensor &t) { return t.is_contiguous() ? t.view(-1) : t; }

// copy_all: one call for each pair of types, as the kernel wants it.
inline void copy_all(const Tensors &to, const Tensors &from) {
  const at::NoGradGuard guard;
  std::map<std::pair<at::ScalarType, at::ScalarType>, std::pair<Tensors, Tensors>> pairs;
  for (size_t i = 0; i < to.size(); i++) {
    TORCH_CHECK(to[i].sizes() == from[i].sizes(), "tensor ", i, " has shape ", to[i].sizes(), ", what is copied ",
                from[i].sizes());
    auto &p = pairs[{to[i].scalar_type(), from[i].scalar_type()}];
    const bool rows = to[i].is_contiguous() && from[i].is_contiguous();
    p.first.push_back(rows ? to[i].view(-1) : to[i]);
    p.second.push_back(rows ? from[i].view(-1) : from[i]);
  }
  for (const auto &[types, p] : pairs) at::_foreach_copy_(p.first, p.second);
}

// number demands that t is one number of a type, beside other tensors: from elsewhere it would be read by the
// host.
inline void number(const Tensor &t, const char *what, at::ScalarType type, const Tensor &beside) {
  TORCH_CHECK(t.scalar_type() == type && t.dim() == 1 && t.numel() == 1 && t.device() == beside.device(), what, " is ",
              t.toString(), t.sizes(), " on ", t.device(), "; it must be ", type, "[1] on ", beside.device());
}

// The words of a scaler's state, before its losses and flags; loss and found are the last update's.
enum { kScale, kTracker, kPoison, kDivisor, kLoss, kFound, kWords };

// norms are those of tensors of several types, in float32; they are in the order of the types.
inline Tensors norms(const Tensors &tensors) {
  std::map<at::ScalarType, Tensors> types;
  for (const Tensor &t : tensors) types[t.scalar_type()].push_back(flat(t));
  Tensors all;
  for (const auto &[type, same] : types)
    for (const Tensor &norm : at::_foreach_norm(same, 2, at::kFloat)) all.push_back(norm);
  return all;
}

inline void check(const Tensor &state, const Tensor &loss, const Tensors &grads, const Tensor &slot,
                  const redsi_check_args &a) {
  const at::NoGradGuard guard;
  TORCH_CHECK(!grads.empty() && loss.numel() == 1, "an update has gradients, and one loss");
  TORCH_CHECK(state.scalar_type() == at::kFloat && state.numel() == kWords + 2 * a.ring,
              "the state has shape ", state.sizes());
  number(slot, "the slot", at::kLong, state);
  const auto word = [&](int64_t i) { return state.narrow(0, i, 1); };
  Tensor scale = word(kScale), divisor = word(kDivisor), kept = word(kLoss), found = word(kFound);
  const Tensors all = norms(grads);
  Tensor norm = all.size() == 1 ? all[0].view(1) : at::linalg_vector_norm(at::stack(all), 2, at::IntArrayRef{0}, true);
  if (a.scaled) norm = norm / scale;
  kept.copy_(loss.reshape(1));
  Tensor bad = kept + norm;
  bad.sub_(bad); // 0, or NaN
  if (!a.scaled) bad = word(kPoison).add_(bad);
  at::ne_out(found, bad, 0);
  state.narrow(0, kWords, 2 * a.ring).view({2, a.ring}).index_copy_(1, slot, state.narrow(0, kLoss, 2).view({2, 1}));
  if (a.clip > 0) {
    divisor.copy_(norm).add_(1e-6).div_(a.clip).clamp_min_(1);
    if (a.scaled) divisor.mul_(scale);
  } else if (a.scaled) {
    divisor.copy_(scale);
  }
  if (a.scaled) {
    // NOTE a loss that is not finite overflowed before the scale came in: scale and tracker stay as they are. torch's
    // GradScaler halves the scale then too, again and again, until it is 0.
    const Tensor forward = (kept - kept).ne_(0);
    Tensor tracker = word(kTracker).view(at::kInt);
    tracker.sub_(forward.to(at::kInt));
    at::_amp_update_scale_(scale, tracker, found - forward, a.growth, a.backoff, a.interval);
  }
}

// kAtOnce is how many elements of gradients are copied at once.
constexpr int64_t kAtOnce = int64_t(1) << 27;

inline void adamw_all(const Tensors &p, const Tensors &g, const Tensors &m, const Tensors &v, const Tensor &steps,
                      const Tensor &rate, const std::optional<Tensor> &found, const std::optional<Tensor> &divisor,
                      const redsi_adamw_args &a) {
  const at::NoGradGuard guard;
  number(rate, "the rate", at::kFloat, p[0]);
  const auto fits = [](const Tensor &t) { return t.scalar_type() == at::kFloat && t.is_contiguous(); };
  for (size_t i = 0; i < p.size(); i++) {
    TORCH_CHECK(p[i].sizes() == g[i].sizes(), "gradient ", i, " has shape ", g[i].sizes(), ", its parameter ",
                p[i].sizes());
    TORCH_CHECK(fits(p[i]) && fits(m[i]) && fits(v[i]) && m[i].numel() == p[i].numel() && v[i].numel() == p[i].numel(),
                "parameter ", i, " and its state are not float32 in row order, of one size");
  }
  for (size_t from = 0, to = 0; from < p.size(); from = to) {
    Tensors params, grads, first, second, wide, narrow;
    for (int64_t elements = 0; to < p.size() && (to == from || elements + p[to].numel() <= kAtOnce); to++) {
      elements += p[to].numel();
      params.push_back(flat(p[to]));
      first.push_back(flat(m[to]));
      second.push_back(flat(v[to]));
      if (fits(g[to])) {
        grads.push_back(flat(g[to]));
        continue;
      }
      narrow.push_back(g[to].contiguous().view(-1));
      grads.push_back(at::empty_like(params.back()));
      wide.push_back(grads.back());
    }
    if (!wide.empty()) copy_all(wide, narrow);
    at::_fused_adamw_(params, grads, first, second, {}, Tensors(params.size(), steps), rate, a.beta1, a.beta2,
                      a.weight_decay, a.eps, false, false, divisor, found);
  }
}

} // namespace redsi
