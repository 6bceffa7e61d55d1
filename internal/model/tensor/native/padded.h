// Attention on a card: packed rows are padded, attended to and put back, by gathers that are their own inverses.
#pragma once
#include "common.h"
#include "composed.h"

#include <map>
#include <mutex>

namespace redsi {

// Below is what autograd's functions compute in: nothing is recorded, and results are no views of each other.
using Below = at::AutoDispatchBelowADInplaceOrView;

// Part is count of q, k and v that lie beside each other in rows, and how they are padded and put back.
struct Part {
  int64_t count, step;
  Tensor pad, back;
};

// Arrangement is a batch's. By heads, padded tensors are [n, heads, rows, d]; else [n, rows, heads, d].
struct Arrangement : torch::CustomClassHolder {
  int64_t n, m, l, heads, d;
  bool by_heads;
  std::vector<Part> parts;
  Tensor out;
  int64_t width() const { return heads * d; }
  int64_t line() const { return by_heads ? d : width(); }
};
using Arranged = c10::intrusive_ptr<Arrangement>;

inline Arranged arranged(AutogradContext *ctx) {
  return c10::static_intrusive_pointer_cast<Arrangement>(ctx->saved_data["arranged"].toCapsule());
}

// interleaved is tensors [n, rows, heads, d] that are columns of one matrix [n*rows, count*heads*d] as that; else a
// copy.
inline Tensor interleaved(const variable_list &all, size_t first, int64_t count) {
  const Tensor &head = all[first];
  const int64_t n = head.size(0), rows = head.size(1), d = head.size(3), width = head.size(2) * d;
  bool columns = true;
  for (int64_t s = 0; s < count; s++) {
    const Tensor &t = all[first + size_t(s)];
    columns = columns && t.is_alias_of(head) && t.storage_offset() == head.storage_offset() + s * width &&
              t.stride(3) == 1 && (t.size(2) == 1 || t.stride(2) == d) && (rows == 1 || t.stride(1) == count * width) &&
              (n == 1 || t.stride(0) == rows * count * width);
  }
  if (columns) return head.as_strided({n * rows, count * width}, {count * width, 1}, head.storage_offset());
  variable_list flat;
  for (int64_t s = 0; s < count; s++) flat.push_back(all[first + size_t(s)].reshape({n * rows, width}));
  return count == 1 ? flat[0] : at::cat(flat, 1);
}

// side_by_side is tensors that lie one after another in memory as one, [count, ...]; else a copy.
inline Tensor side_by_side(const variable_list &all, size_t first, int64_t count) {
  const Tensor &head = all[first];
  bool adjacent = true;
  for (int64_t s = 0; s < count; s++) {
    const Tensor &t = all[first + size_t(s)];
    adjacent = adjacent && t.is_contiguous() && t.is_alias_of(head) && t.sizes() == head.sizes() &&
               t.storage_offset() == head.storage_offset() + s * head.numel();
  }
  if (adjacent) {
    std::vector<int64_t> sizes{count}, strides{head.numel()};
    for (int64_t i = 0; i < head.dim(); i++) sizes.push_back(head.size(i)), strides.push_back(head.stride(i));
    return head.as_strided(sizes, strides, head.storage_offset());
  }
  return at::stack(at::TensorList(&all[first], size_t(count)));
}

// Pad makes padded q, k and v of packed rows. A place without a row repeats one of the
// sequence: finite, and masked. Backward each row takes the gradient of its place; padding has none to give.
struct Pad : Function<Pad> {
  static variable_list forward(AutogradContext *ctx, const Tensor &q, const Tensor &k, const Tensor &v,
                               const Arranged &a) {
    const Below guard;
    const Tensor in[] = {q, k, v};
    variable_list out;
    for (const Part &p : a->parts) {
      const Tensor &x = in[out.size()];
      const int64_t rows = x.size(0), most = out.empty() ? a->m : a->l;
      if (a->by_heads) {
        const Tensor lines =
            x.as_strided({(rows - 1) * p.step + p.count * a->heads, a->d}, {a->d, 1}, x.storage_offset());
        const Tensor y = lines.index_select(0, p.pad).view({p.count, a->n, a->heads, most, a->d});
        for (int64_t s = 0; s < p.count; s++) out.push_back(y.select(0, s));
      } else {
        const Tensor wide = x.as_strided({rows, p.count * a->width()}, {x.stride(0), 1}, x.storage_offset());
        const Tensor y = wide.index_select(0, p.pad).view({a->n, most, p.count, a->heads, a->d});
        for (int64_t s = 0; s < p.count; s++) out.push_back(y.select(2, s));
      }
    }
    ctx->saved_data["arranged"] = c10::IValue::make_capsule(a);
    return out;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Below guard;
    const Arranged a = arranged(ctx);
    variable_list out(4);
    size_t first = 0;
    for (const Part &p : a->parts) {
      const int64_t most = first == 0 ? a->m : a->l;
      bool needed = false;
      for (int64_t s = 0; s < p.count; s++) needed = needed || ctx->needs_input_grad(first + size_t(s));
      if (needed) {
        TORCH_CHECK(p.back.defined(), "keys that sequences share, or rows between them, have no gradients on a card");
        const Tensor lines =
            a->by_heads ? side_by_side(grads, first, p.count).reshape({p.count * a->n * a->heads * most, a->d})
                        : interleaved(grads, first, p.count);
        const Tensor rows = lines.index_select(0, p.back).view({-1, p.count * a->width()});
        for (int64_t s = 0; s < p.count; s++)
          out[first + size_t(s)] = rows.narrow(1, s * a->width(), a->width());
      }
      first += size_t(p.count);
    }
    return out;
  }
};

// Unpad makes packed rows of a padded result. Backward padding has the gradient 0.
struct Unpad : Function<Unpad> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x, const Arranged &a) {
    const Below guard;
    ctx->saved_data["arranged"] = c10::IValue::make_capsule(a);
    return x.reshape({-1, a->line()}).index_select(0, a->out).view({-1, a->width()});
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Below guard;
    const Arranged a = arranged(ctx);
    Tensor x = at::zeros({a->n * a->m * a->width() / a->line(), a->line()}, grads[0].options());
    x.index_copy_(0, a->out, grads[0].reshape({-1, a->line()}));
    return {a->by_heads ? x.view({a->n, a->heads, a->m, a->d}) : x.view({a->n, a->m, a->heads, a->d}), Tensor()};
  }
};

// softmax_gradient is dp∘p - p·rowsum(dp∘p). On a CPU libtorch's has other bytes with other numbers of threads.
inline Tensor softmax_gradient(const Tensor &dp, const Tensor &p) {
  if (!p.is_cpu()) return at::_softmax_backward_data(dp, p, -1, p.scalar_type());
  const Tensor d_ = dp.to(at::kFloat, false, true), p_ = p.to(at::kFloat).contiguous();
  const int64_t n = p_.size(-1), rows = p_.numel() / std::max<int64_t>(n, 1);
  float *d = d_.data_ptr<float>();
  const float *of = p_.data_ptr<float>();
  at::parallel_for(0, rows, grain(n), [&](int64_t begin, int64_t end) {
    redsi_k_softmax_backward(d + begin * n, of + begin * n, nullptr, 0, end - begin, n);
  });
  return d_.to(p.scalar_type());
}

// Products is softmax(scale·q·kᵀ + bias)·v in libtorch's products: q [n, heads, m, d], k and v [n, heads, l, d], the
// bias of q's type and [n or 1, heads or 1, m or 1, l].
struct Products : Function<Products> {
  static Tensor forward(AutogradContext *ctx, const Tensor &q_, const Tensor &k_, const Tensor &v_,
                        const std::optional<Tensor> &bias, double scale, double dropout, bool keep) {
    const Below guard;
    const int64_t n = q_.size(0), heads = q_.size(1), m = q_.size(2), d = q_.size(3), l = k_.size(2), all = n * heads;
    const Tensor q = q_.reshape({all, m, d}), k = k_.reshape({all, l, d}), v = v_.reshape({all, l, d});
    Tensor scores;
    if (bias) {
      const int64_t rows = bias->size(2);
      scores = at::baddbmm(bias->expand({n, heads, rows, l}).reshape({all, rows, l}), q, k.transpose(1, 2), 1, scale);
    } else if (scale == 1) {
      scores = at::bmm(q, k.transpose(1, 2));
    } else { // what was there is not read
      scores = at::empty({all, m, l}, q.options()).baddbmm_(q, k.transpose(1, 2), 0, scale);
    }
    const Tensor p = at::_softmax(scores, -1, false);
    Tensor dropped = p, mask;
    if (dropout > 0) std::tie(dropped, mask) = at::native_dropout(p, dropout, true);
    if (keep) {
      ctx->save_for_backward({q, k, v, p, dropped, mask});
      ctx->saved_data["scale"] = scale;
      ctx->saved_data["dropout"] = dropout;
      ctx->saved_data["bias"] = bias ? bias->sizes().vec() : std::vector<int64_t>{};
      ctx->saved_data["heads"] = heads;
    }
    return at::bmm(dropped, v).view({n, heads, m, d});
  }
  // As Attention::backward in attention.h has it; gradients that are put back together lie together.
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Below guard;
    const auto saved = ctx->get_saved_variables();
    const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &p = saved[3], &dropped = saved[4], &mask = saved[5];
    const double scale = ctx->saved_data["scale"].toDouble(), dropout = ctx->saved_data["dropout"].toDouble();
    const int64_t all = q.size(0), m = q.size(1), d = q.size(2), l = k.size(1), heads = ctx->saved_data["heads"].toInt();
    const Tensor g = grads[0].reshape({all, m, d});
    Tensor dq, dk, dv;
    if (m == l) {
      const Tensor three = at::empty({3, all, m, d}, q.options());
      dq = three.select(0, 0), dk = three.select(0, 1), dv = three.select(0, 2);
    } else {
      const Tensor two = at::empty({2, all, l, d}, q.options());
      dq = at::empty({all, m, d}, q.options()), dk = two.select(0, 0), dv = two.select(0, 1);
    }
    at::bmm_out(dv, dropped.transpose(1, 2), g);
    Tensor dp = at::bmm(g, v.transpose(1, 2));
    if (dropout > 0) dp = at::native_dropout_backward(dp, mask, 1 / (1 - dropout));
    const Tensor ds = softmax_gradient(dp, p);
    if (scale == 1) {
      at::bmm_out(dq, ds, k);
      at::bmm_out(dk, ds.transpose(1, 2), q);
    } else { // what was there is not read
      dq.baddbmm_(ds, k, 0, scale);
      dk.baddbmm_(ds.transpose(1, 2), q, 0, scale);
    }
    const int64_t n = all / heads;
    Tensor dbias;
    if (ctx->needs_input_grad(3)) {
      const auto sizes = ctx->saved_data["bias"].toIntVector();
      dbias = at::sum_to(ds.view({n, heads, m, l}), sizes);
    }
    return {dq.view({n, heads, m, d}), dk.view({n, heads, l, d}), dv.view({n, heads, l, d}), dbias, Tensor(), Tensor(), Tensor()};
  }
};

// lies_well: the kernel reads 16 bytes at a time (libtorch asks for strides of 16 numbers).
inline bool lies_well(const Tensor &bias) {
  if (bias.stride(-1) != 1 || bias.storage_offset() % 16 != 0) return false;
  for (int64_t i = 0; i + 1 < bias.dim(); i++)
    if (bias.size(i) > 1 && bias.stride(i) % 16 != 0) return false;
  return true;
}

// fused_fits: libtorch's memory-efficient kernel takes q's type on its card, heads of d. Cards before compute capability 8.0 have none for bfloat16: libtorch is asked once for each.
inline bool fused_fits(const Tensor &q, int64_t d) {
  if (!q.is_cuda() || (q.scalar_type() != at::kHalf && q.scalar_type() != at::kBFloat16) || d % 8 != 0) return false;
  static std::mutex mutex;
  static std::map<std::tuple<int, int, int64_t>, bool> known;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [it, fresh] = known.try_emplace({int(q.device().index()), int(q.scalar_type()), d}, false);
  if (fresh) {
    const auto options = q.options().requires_grad(false);
    const Tensor x = at::empty({1, 1, 16, d}, options), bias = at::empty({1, 1, 16, 16}, options);
    // What takes a bias at all here, takes it in this kernel too.
    it->second = at::SDPBackend(at::_fused_sdp_choice(x, x, x, bias, 0.0, false, 1.0)) != at::SDPBackend::math;
  }
  return it->second;
}

// Lengths are cumulative lengths (int32) of packed sequences, and the longest.
struct Lengths {
  Tensor q, k;
  int64_t m, l;
  bool causal;
};

// Efficient is libtorch's memory-efficient kernel, which only CUDA has (cpu_kernels.h stands in for it elsewhere): q
// [n, m, heads, d], k and v [n, l, heads, d], the bias of q's type [n, heads, m, l] and lying well; or packed
// sequences, n being 1, without a bias. Gradients of q, k and v that are columns of one matrix are so too. NOTE keys
// are not split among blocks of threads, so that sums of gradients have one order.
struct Efficient : Function<Efficient> {
  static Tensor forward(AutogradContext *ctx, const Tensor &q, const Tensor &k, const Tensor &v,
                        const std::optional<Tensor> &bias, const std::optional<Lengths> &of, double scale,
                        double dropout, bool together, bool keep) {
    const Below guard;
    std::optional<Tensor> of_q, of_k;
    std::optional<int64_t> m, l;
    if (of) of_q = of->q, of_k = of->k, m = of->m, l = of->l;
    const int64_t mask = of && of->causal ? 2 : 0; // query i of m sees keys 0 … i+l-m
    const auto [out, sums, seed, offset, most_q, most_k] =
        at::_efficient_attention_forward(q, k, v, bias, of_q, of_k, m, l, dropout, mask, keep, scale);
    if (keep) {
      ctx->save_for_backward({q, k, v, bias ? *bias : Tensor(), out, sums, seed, offset, of ? of->q : Tensor(),
                              of ? of->k : Tensor()});
      ctx->saved_data["m"] = of ? of->m : q.size(1);
      ctx->saved_data["l"] = of ? of->l : k.size(1);
      ctx->saved_data["mask"] = mask;
      ctx->saved_data["scale"] = scale;
      ctx->saved_data["dropout"] = dropout;
      ctx->saved_data["together"] = together;
    }
    return out;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Below guard;
    const auto saved = ctx->get_saved_variables();
    const auto some = [&](size_t i) { return saved[i].defined() ? std::optional<Tensor>(saved[i]) : std::nullopt; };
    const auto number = [&](const char *name) { return ctx->saved_data[name].toInt(); };
    const auto [dq, dk, dv, dbias] = at::_efficient_attention_backward(
        grads[0].contiguous(), saved[0], saved[1], saved[2], some(3), saved[4], some(8), some(9), number("m"),
        number("l"), saved[5], ctx->saved_data["dropout"].toDouble(), saved[6], saved[7], number("mask"),
        saved[3].defined() && ctx->needs_input_grad(3), ctx->saved_data["scale"].toDouble(), 1, std::nullopt,
        ctx->saved_data["together"].toBool());
    variable_list out(9);
    out[0] = dq, out[1] = dk, out[2] = dv, out[3] = dbias;
    return out;
  }
};

inline bool records(const Tensor &q, const Tensor &k, const Tensor &v, const std::optional<Tensor> &bias) {
  return at::GradMode::is_enabled() &&
         (q.requires_grad() || k.requires_grad() || v.requires_grad() || (bias && bias->requires_grad()));
}

inline void check_dropout(double p) { TORCH_CHECK(p >= 0 && p < 1, "probability ", p, " is not in [0, 1)"); }

// efficient is Efficient over a padded batch, with a bias [n or 1, heads or 1, m or 1, l].
inline Tensor efficient(const Tensor &q, const Tensor &k, const Tensor &v, const std::optional<Tensor> &bias_,
                        double scale, double dropout, bool together) {
  std::optional<Tensor> bias;
  if (bias_) {
    const int64_t l = k.size(1);
    Tensor b = *bias_;
    if (!lies_well(b)) b = at::constant_pad_nd(b, {0, 16 - l % 16}).slice(3, 0, l);
    bias = b.expand({q.size(0), q.size(2), q.size(1), l});
  }
  return Efficient::apply(q, k, v, bias, std::nullopt, scale, dropout, together, records(q, k, v, bias));
}

// MaskBias is a bias that all sequences share, and what is hidden in each of them.
struct MaskBias : Function<MaskBias> {
  static Tensor forward(AutogradContext *ctx, const std::optional<Tensor> &bias, const Tensor &hidden, int64_t heads,
                        int64_t m, int64_t l, at::TensorOptions options) {
    const Below guard;
    const int64_t n = hidden.size(0), rows = bias ? m : hidden.size(2);
    // Numbers beside the last column, which nobody reads, make rows begin where kernels want them.
    const Tensor out = at::zeros({n, heads, rows, (l + 15) / 16 * 16}, options).slice(3, 0, l);
    if (bias) out.copy_(bias->slice(1, 0, m).slice(2, 0, l).unsqueeze(0).expand(out.sizes()));
    // Half of the lowest number: a score added to it is finite.
    const double low = out.scalar_type() == at::kHalf ? -32752.0 : -1.7e38;
    out.masked_fill_(hidden, low);
    if (bias) {
      ctx->saved_data["sizes"] = bias->sizes().vec();
      ctx->saved_data["type"] = int64_t(bias->scalar_type());
    }
    return out;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Below guard;
    variable_list out(6);
    if (!ctx->needs_input_grad(0)) return out;
    const auto sizes = ctx->saved_data["sizes"].toIntVector();
    const auto type = at::ScalarType(ctx->saved_data["type"].toInt());
    out[0] = grads[0].sum(at::IntArrayRef{0}, false, type); // [heads, m, l]
    if (out[0].sizes() != at::IntArrayRef(sizes)) {
      const Tensor whole = at::zeros(sizes, out[0].options());
      whole.slice(1, 0, out[0].size(1)).slice(2, 0, out[0].size(2)).copy_(out[0]);
      out[0] = whole;
    }
    return out;
  }
};

} // namespace redsi
