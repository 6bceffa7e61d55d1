// Adafactor for all parameters at once (multi.h): those of one shape are a class, whose gradients lie one
// behind the other, and are updated by one expression.
//
// The running means of all classes are one float32 tensor: of a class of matrices first those over
// columns, [members, rows], then those over rows, [members, columns]; of a class of vectors
// the squares' own, [members, rows].
#pragma once
#include "multi.h"

namespace redsi {

struct Class {
  int64_t members, rows, columns; // columns 0: vectors of rows elements
  int64_t size() const { return rows * std::max<int64_t>(columns, 1); }
  int64_t state() const { return members * (rows + columns); }
  int64_t copied() const { return members > 1 ? members * size() : 0; }
};

// Work is a class within a call: where its members and its means are.
struct Work : Class {
  size_t first;
  int64_t at;
  Tensor grads; // [members, rows, columns] or [members, rows]
  // bound is what the norm of an update may be.
  double bound(const redsi_adafactor_args &a) const { return a.clip * std::sqrt(double(size())); }
  Tensor part(const Tensor &means, int64_t skip, int64_t n) const {
    return means.narrow(0, at + skip, members * n).view({members, n});
  }
  Tensor of_rows(const Tensor &means) const { return part(means, 0, rows); }
  Tensor of_columns(const Tensor &means) const { return part(means, members * rows, columns); }
};

// stacked is the members' tensors one behind the other, not copied where there is one.
inline Tensor stacked(const Tensors &all, const Work &w) {
  Tensors part(all.begin() + ptrdiff_t(w.first), all.begin() + ptrdiff_t(w.first) + w.members);
  for (Tensor &t : part)
    if (t.dim() == 0) t = t.reshape({1});
  return w.members == 1 ? part[0].contiguous() : at::cat(part);
}

// measure puts the roots of sums of squares over rows and columns, or a vector's values, into a class's
// place of sums.
inline void measure(const Work &w, const Tensor &sums) {
  if (w.columns == 0) {
    w.of_rows(sums).copy_(w.grads);
    return;
  }
  Tensor rows = w.of_rows(sums), columns = w.of_columns(sums);
  at::linalg_vector_norm_out(rows, w.grads, 2, at::IntArrayRef{-1}, false, at::kFloat);
  at::linalg_vector_norm_out(columns, w.grads, 2, at::IntArrayRef{-2}, false, at::kFloat);
}

// update changes a class's parameters: factors are 1/root of the means, those over columns already
// relative to their own mean. floor, where there is a divisor, is that times bound; size, [members, 1], is
// what the rate is relative to; rate, [1], is times bound.
inline void update(Work &w, const Tensors &p, const Tensor &factors, const Tensor &floor, const Tensor &size,
                   const Tensor &rate, const std::optional<Tensor> &found, const redsi_adafactor_args &a) {
  Tensor u;
  if (w.columns == 0)
    u = w.grads * w.of_rows(factors);
  else
    u = (w.grads * w.of_rows(factors).unsqueeze(-1)).mul_(w.of_columns(factors).unsqueeze(-2));
  u = u.view({w.members, w.size()});
  w.grads.reset();
  Tensor by = at::linalg_vector_norm(u, 2, at::IntArrayRef{1}, true);
  if (floor.defined())
    at::maximum_out(by, by, floor);
  else
    by.clamp_min_(w.bound(a));
  if (size.defined()) by.div_(size);
  u.div_(by);
  double decay = a.weight_decay / w.bound(a);
  if (size.defined() && decay != 0) {
    u.addcmul_(stacked(p, w).view(u.sizes()), size, decay);
    decay = 0;
  }
  Tensors params(p.begin() + ptrdiff_t(w.first), p.begin() + ptrdiff_t(w.first) + w.members);
  for (Tensor &t : params) t = t.view(-1);
  at::_fused_sgd_(params, u.unbind(0), {}, decay, 0, rate, 0, false, false, false, std::nullopt, found);
}

// sizes are max(eps2, rms) of the group's parameters, [n, 1].
inline Tensor sizes(const std::vector<Work> &group, const Tensors &p, const redsi_adafactor_args &a) {
  Tensors all;
  std::vector<at::Scalar> roots;
  for (const Work &w : group)
    for (int64_t i = 0; i < w.members; i++) {
      all.push_back(p[w.first + size_t(i)]);
      roots.push_back(1 / std::sqrt(double(w.size())));
    }
  all = norms(all);
  at::_foreach_mul_(all, roots);
  return at::stack(all).clamp_min_(a.eps2).unsqueeze(1);
}

// adafactor_group updates some classes, whose gradients together are copied at once.
inline void adafactor_group(std::vector<Work> &group, const Tensors &p, const Tensors &g, const Tensor &means,
                            const Tensor &inverse, const Tensor &weight, const Tensor &rate,
                            const std::optional<Tensor> &found, const std::optional<Tensor> &skip,
                            const std::optional<Tensor> &divisor, const redsi_adafactor_args &a) {
  const int64_t from = group.front().at, n = group.back().at + group.back().state() - from;
  const Tensor own = means.narrow(0, from, n);
  Tensor sums = at::empty_like(own);
  int64_t averages = 0;
  for (Work &w : group) {
    w.at -= from;
    const Tensor all = stacked(g, w);
    w.grads = w.columns == 0 ? all.view({w.members, w.rows}) : all.view({w.members, w.rows, w.columns});
    measure(w, sums);
    averages += w.columns == 0 ? 0 : w.members;
  }
  if (divisor) sums.div_(*divisor);
  sums.mul_(inverse.narrow(0, from, n)).square_().add_(a.eps1);
  sums = at::lerp(own, sums, weight);
  if (skip) {
    Tensor to = own;
    at::where_out(to, *skip, own, sums);
  } else {
    own.copy_(sums);
  }
  at::rsqrt_out(sums, own);
  if (averages > 0) {
    Tensor mean = at::empty({averages, 1}, own.options());
    int64_t at = 0;
    for (const Work &w : group)
      if (w.columns > 0) {
        Tensor to = mean.narrow(0, at, w.members);
        at::mean_out(to, w.of_rows(own), at::IntArrayRef{-1}, true);
        at += w.members;
      }
    mean.sqrt_();
    at = 0;
    for (const Work &w : group)
      if (w.columns > 0) {
        w.of_rows(sums).mul_(mean.narrow(0, at, w.members));
        at += w.members;
      }
  }
  std::vector<at::Scalar> bounds;
  for (const Work &w : group) bounds.push_back(w.bound(a));
  const auto times_bounds = [&](const Tensor &t) { return at::_foreach_mul(Tensors(group.size(), t), bounds); };
  const Tensors rates = times_bounds(rate), floors = divisor ? times_bounds(*divisor) : Tensors(group.size());
  const Tensor all = a.scale_parameter ? sizes(group, p, a) : Tensor();
  int64_t first = 0;
  for (size_t i = 0; i < group.size(); first += group[i++].members) {
    const Tensor size = all.defined() ? all.narrow(0, first, group[i].members) : Tensor();
    update(group[i], p, sums, floors[i], size, rates[i], found, a);
  }
}

inline void adafactor_all(const Tensors &p, const Tensors &g, const std::vector<Class> &classes, const Tensor &means,
                          const Tensor &inverse, const Tensor &weight, const Tensor &rate,
                          const std::optional<Tensor> &found, const std::optional<Tensor> &divisor,
                          const redsi_adafactor_args &a) {
  const at::NoGradGuard guard;
  number(rate, "the rate", at::kFloat, p[0]);
  std::vector<Work> works;
  size_t first = 0;
  int64_t at = 0;
  for (const Class &c : classes) {
    works.push_back(Work{c, first, at, Tensor()});
    for (int64_t i = 0; i < c.members; i++, first++) {
      TORCH_CHECK(first < p.size() && p[first].numel() == c.size() && p[first].is_contiguous() &&
                      p[first].scalar_type() == at::kFloat,
                  "parameter ", first, " is not float32 in row order, of its class's shape");
      TORCH_CHECK(p[first].sizes() == g[first].sizes(), "the gradient has shape ", g[first].sizes(), ", parameter ",
                  first, " has ", p[first].sizes());
    }
    at += c.state();
  }
  TORCH_CHECK(first == p.size() && at == means.numel() && at == inverse.numel(), "the classes do not fit");
  std::optional<Tensor> skip;
  if (found) skip = found->to(at::kBool);
  for (size_t from = 0, to = 0; from < works.size(); from = to) {
    int64_t copied = 0;
    for (; to < works.size() && (to == from || copied + works[to].copied() <= kAtOnce); to++)
      copied += works[to].copied();
    std::vector<Work> group(works.begin() + ptrdiff_t(from), works.begin() + ptrdiff_t(to));
    adafactor_group(group, p, g, means, inverse, weight, rate, found, skip, divisor, a);
  }
}

} // namespace redsi
