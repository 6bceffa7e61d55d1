// The functions of composed.h.
#include "composed.h"
#include "cpu_kernels.h"
#include "padded.h"
#include "slices.h"

using namespace redsi;

namespace {

// lines_of is x where its heads can be gathered as they lie, else a copy.
Tensor lines_of(const Tensor &x, int64_t d) {
  return x.stride(1) == 1 && (x.size(0) <= 1 || x.stride(0) % d == 0) ? x : x.contiguous();
}

template <typename F> char *with_generator(int device, F f) {
  return guarded([&] {
    at::Generator generator = at::globalContext().defaultGenerator(
        device < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, c10::DeviceIndex(device)));
    std::lock_guard<std::mutex> lock(generator.mutex());
    f(generator);
  });
}

} // namespace

extern "C" {

char *redsi_random_state(void **out, int device) {
  return with_generator(device, [&](at::Generator &g) { *out = new Tensor(g.get_state()); });
}

char *redsi_set_random_state(int device, void *state) {
  return with_generator(device, [&](at::Generator &g) { g.set_state(deref(state)); });
}

char *redsi_seed(int device, uint64_t key) {
  return with_generator(device, [&](at::Generator &g) { g.set_current_seed(key); });
}

char *redsi_place_of(void *t_, void **memory, int64_t *offset, int64_t *row, int64_t *column) {
  return guarded([&] {
    const Tensor &t = deref(t_);
    TORCH_CHECK(t.dim() == 2, "operands must be [rows, heads*d]");
    *memory = t.storage().unsafeGetStorageImpl();
    *offset = t.storage_offset();
    *row = t.stride(0);
    *column = t.stride(1);
  });
}

int redsi_fused_fits(void *q, int64_t d) { return fused_fits(deref(q), d); }

char *redsi_head_lines(void **out, void *pad_, int64_t n, int64_t most, int64_t heads, int64_t count, int64_t step) {
  return guarded([&] {
    const Tensor &pad = deref(pad_);
    const Tensor line = at::arange(count * heads, pad.options()).view({count, 1, heads, 1});
    *out = new Tensor(at::add(line, pad.view({1, n, 1, most}), step).view({-1}));
  });
}

char *redsi_head_places(void **out, void *back_, int64_t n, int64_t most, int64_t heads, int64_t count) {
  return guarded([&] {
    const Tensor &back = deref(back_); // sequence*most + place in it
    // (sequence*heads + head)*most + place = back + (sequence*(heads-1) + head)*most
    const Tensor sequence = at::div(back, most, "floor");
    const Tensor first = at::add(back, sequence, (heads - 1) * most).view({-1, 1, 1});
    const Tensor head = at::arange(0, heads * most, most, back.options()).view({1, 1, heads});
    const Tensor of = at::arange(0, count * n * heads * most, n * heads * most, back.options()).view({1, count, 1});
    *out = new Tensor(at::add(at::add(of, head), first).view({-1}));
  });
}

char *redsi_hidden(void **out, void *q_len, void *k_len, int64_t m, int64_t l, int causal) {
  return guarded([&] {
    const Tensor keys = deref(k_len).view({-1, 1, 1, 1}), queries = deref(q_len).view({-1, 1, 1, 1});
    const Tensor column = at::arange(l, keys.options());
    Tensor hidden = column.ge(keys); // [n, 1, 1, l]
    if (causal) {
      const Tensor row = at::arange(m, keys.options()).view({1, 1, m, 1});
      hidden = hidden.logical_or(column.gt(row.add(keys).sub(queries)));
    }
    *out = new Tensor(hidden);
  });
}

char *redsi_mask_bias(void **out, void *bias, void *hidden, int64_t heads, int64_t m, int64_t l, void *q) {
  return guarded([&] {
    *out = new Tensor(MaskBias::apply(optional(bias), deref(hidden), heads, m, l,
                                      deref(q).options().requires_grad(false)));
  });
}

int redsi_records(void) { return at::GradMode::is_enabled(); }

char *redsi_packed_attention(void **out, void *q_, void *k_, void *v_, const redsi_packed_args *args) {
  return guarded([&] {
    check_dropout(args->dropout);
    const int64_t d = deref(q_).size(1) / args->heads;
    const Tensor q = lines_of(deref(q_), d), k = lines_of(deref(k_), d), v = lines_of(deref(v_), d);
    if (args->q_ends) {
      const auto heads = [&](const Tensor &t) { return t.view({1, t.size(0), args->heads, d}); };
      const Lengths of{deref(args->q_ends), deref(args->k_ends), args->m, args->l, args->causal != 0};
      const Tensor y = Efficient::apply(heads(q), heads(k), heads(v), std::nullopt, of, args->scale, args->dropout,
                                        args->count[0] == 3, records(q, k, v, std::nullopt));
      *out = new Tensor(y.view({q.size(0), q.size(1)}));
      return;
    }
    auto a = c10::make_intrusive<Arrangement>();
    a->n = args->n, a->m = args->m, a->l = args->l, a->heads = args->heads, a->d = d;
    a->by_heads = !args->fused;
    a->out = deref(args->out);
    for (int i = 0; i < args->parts; i++)
      a->parts.push_back({args->count[i], args->step[i], deref(args->pad[i]),
                          args->back[i] ? deref(args->back[i]) : Tensor()});
    const auto padded = Pad::apply(q, k, v, a);
    const std::optional<Tensor> bias = optional(args->bias);
    const Tensor y = args->fused ? efficient(padded[0], padded[1], padded[2], bias, args->scale, args->dropout,
                                             args->count[0] == 3)
                                 : Products::apply(padded[0], padded[1], padded[2], bias, args->scale, args->dropout,
                                                   records(padded[0], padded[1], padded[2], bias));
    *out = new Tensor(Unpad::apply(y, a));
  });
}

char *redsi_batch_attention(void **out, void *q_, void *k_, void *v_, void *bias_, int64_t heads, double scale,
                            double dropout, int fused) {
  return guarded([&] {
    const Tensor &q = deref(q_), &k = deref(k_), &v = deref(v_);
    TORCH_CHECK(q.dim() == 3 && k.dim() == 3 && v.dim() == 3 && heads > 0 && q.size(2) % heads == 0 &&
                    k.size(2) == q.size(2) && k.size(0) == q.size(0) && v.sizes() == k.sizes(),
                "q must be [n, m, heads*d], k and v [n, l, heads*d]");
    check_dropout(dropout);
    const int64_t n = q.size(0), m = q.size(1), l = k.size(1), d = q.size(2) / heads;
    std::optional<Tensor> bias = optional(bias_);
    if (bias) {
      Tensor b = bias->to(q.scalar_type());
      while (b.dim() < 4) b = b.unsqueeze(0);
      bias = b.size(3) == l ? b : b.expand({b.size(0), b.size(1), b.size(2), l});
    }
    const auto split = [&](const Tensor &t, int64_t rows) { return t.reshape({n, rows, heads, d}); };
    const Tensor qh = split(q, m), kh = split(k, l), vh = split(v, l);
    if (fused) {
      *out = new Tensor(efficient(qh, kh, vh, bias, scale, dropout, false).reshape({n, m, heads * d}));
      return;
    }
    const Tensor y = Products::apply(qh.transpose(1, 2), kh.transpose(1, 2), vh.transpose(1, 2), bias, scale, dropout,
                                     records(qh, kh, vh, bias));
    *out = new Tensor(y.transpose(1, 2).reshape({n, m, heads * d}));
  });
}

char *redsi_relative_bias(void **out, void *table_, void *distances_, int64_t most) {
  return guarded([&] {
    const Tensor &table = deref(table_), &distances = deref(distances_);
    TORCH_CHECK(table.dim() == 2 && distances.dim() == 1 && distances.size(0) == 2 * most - 1,
                "want a table of rows and ", 2 * most - 1, " distances");
    // Row w of the windows begins at distance w-(most-1): that of query most-1-w.
    const Tensor rows = distances.unfold(0, most, 1).flip(0); // [most, most]
    *out = new Tensor(at::embedding(table, rows).permute({2, 0, 1}));
  });
}

char *redsi_head_slices(void **out, void *h, void *w, void *labels, int64_t ignore, double smooth, void *scale,
                        int last) {
  return guarded([&] {
    *out = new Tensor(head_slices(deref(h), deref(w), deref(labels), ignore, smooth, optional(scale), last != 0));
  });
}

} // extern "C"

TORCH_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("_efficient_attention_forward", TORCH_FN(redsi::cpu::efficient_forward));
  m.impl("_efficient_attention_backward", TORCH_FN(redsi::cpu::efficient_backward));
  m.impl("mm.dtype", TORCH_FN(redsi::cpu::mm_dtype));
  m.impl("_fused_rms_norm_backward", TORCH_FN(redsi::cpu::rms_norm_backward));
}
