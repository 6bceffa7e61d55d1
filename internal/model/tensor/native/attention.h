// Attention over sequences that lie one after another without padding, with an
// additive bias per head that the sequences share (T5's relative positions).
//
// One thread works through whole sequences, all heads: scores, bias, softmax,
// dropout and the product with v stay in its cache. Only the probabilities are kept
// for the backward pass. A sequence's bfloat16 is widened there; what is not on a CPU, or float16, is padded.h's.
#pragma once
#include "half.h"
#include "linear.h"

#include <optional>

namespace redsi {

// Spans is a copy of the caller's arrays, which the backward pass still needs.
struct Spans : torch::CustomClassHolder {
  std::vector<int64_t> q_start, q_len, k_start, k_len, at; // at: first probability of a sequence
  int64_t heads, q_most = 0, k_most = 0, total = 0;
  double scale, dropout;
  uint64_t key;
  bool causal;

  explicit Spans(const redsi_attention_args &a)
      : q_start(a.q_start, a.q_start + a.n), q_len(a.q_len, a.q_len + a.n), k_start(a.k_start, a.k_start + a.n),
        k_len(a.k_len, a.k_len + a.n), heads(a.heads), scale(a.scale), dropout(a.dropout), key(a.key),
        causal(a.causal != 0) {
    for (size_t i = 0; i < q_len.size(); i++) {
      TORCH_CHECK(q_len[i] > 0 && k_len[i] > 0, "sequence ", i, " is empty");
      TORCH_CHECK(!causal || q_len[i] <= k_len[i], "sequence ", i, " has more queries than keys under a causal mask");
      at.push_back(total);
      total += q_len[i] * k_len[i] * heads;
      q_most = std::max(q_most, q_len[i]);
      k_most = std::max(k_most, k_len[i]);
    }
  }
  size_t size() const { return q_len.size(); }

  void fit(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &bias) const {
    TORCH_CHECK(q.dim() == 2 && k.dim() == 2 && v.dim() == 2, "q, k and v must be [rows, heads*d]");
    TORCH_CHECK(heads > 0 && q.size(1) % heads == 0 && k.size(1) == q.size(1) && v.sizes() == k.sizes(),
                "widths of q, k and v do not fit ", heads, " heads");
    for (size_t i = 0; i < size(); i++)
      TORCH_CHECK(q_start[i] >= 0 && q_start[i] + q_len[i] <= q.size(0) && k_start[i] >= 0 &&
                      k_start[i] + k_len[i] <= k.size(0),
                  "sequence ", i, " lies outside of q or k");
    TORCH_CHECK(!bias.defined() || (bias.dim() == 3 && bias.size(0) == heads && bias.size(1) >= q_most &&
                                    bias.size(2) >= k_most),
                "the bias is not [heads, >=", q_most, ", >=", k_most, "]");
  }
};

inline Tensor rows(const Tensor &t) { return t.stride(1) == 1 ? t : t.contiguous(); }

// Rows are a sequence's of a matrix, as float32: where they lie, or in a buffer.
struct Rows {
  float *at;
  int64_t ld;

  // They are read, or are to be written.
  Rows(const Tensor &t, int64_t first, int64_t n, std::vector<float> &buffer, bool read = true)
      : ld(half(t) ? t.size(1) : t.stride(0)), t(t), first(first), n(n) {
    if (!half(t)) {
      at = t.data_ptr<float>() + first * ld;
      return;
    }
    buffer.resize(size_t(n * ld));
    at = buffer.data();
    for (int64_t i = 0; read && i < n; i++) redsi_k_widen(at + i * ld, bits(i), ld);
  }
  void written() const {
    for (int64_t i = 0; half(t) && i < n; i++) redsi_k_narrow(bits(i), at + i * ld, ld);
  }

private:
  const Tensor &t;
  int64_t first, n;
  uint16_t *bits(int64_t i) const {
    return reinterpret_cast<uint16_t *>(t.data_ptr<at::BFloat16>()) + (first + i) * t.stride(0);
  }
};

struct Attention : Function<Attention> {
  static Tensor forward(AutogradContext *ctx, const Tensor &q_, const Tensor &k_, const Tensor &v_,
                        const std::optional<Tensor> &bias_, const c10::intrusive_ptr<Spans> &spans, bool keep) {
    const Spans &s = *spans;
    const Tensor q = rows(q_), k = rows(k_), v = rows(v_);
    const Tensor bias = !bias_ ? Tensor() : bias_->stride(2) != 1 ? bias_->contiguous() : *bias_;
    const int64_t width = q.size(1), d = width / s.heads;
    Tensor out_ = at::empty({q.size(0), width}, q.options());
    Tensor probabilities = at::empty({keep ? s.total : 0}, q.options());
    const float *B = bias.defined() ? bias.data_ptr<float>() : nullptr;
    const int64_t head_stride = B ? bias.stride(0) : 0, row_stride = B ? bias.stride(1) : 0;
    const redsi_mask mask = mask_of(s.dropout, s.key);
    const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, s.q_most * s.k_most * s.heads));
    at::parallel_for(0, int64_t(s.size()), grain, [&](int64_t begin, int64_t end) {
      const OneThread guard;
      std::vector<float> scratch(size_t(s.q_most * s.k_most) * (s.dropout > 0 ? 2 : 1)), buffer[4];
      for (int64_t i = begin; i < end; i++) {
        const int64_t m = s.q_len[i], n = s.k_len[i];
        const Rows Q(q, s.q_start[i], m, buffer[0]), K(k, s.k_start[i], n, buffer[1]), V(v, s.k_start[i], n, buffer[2]);
        const Rows out(out_, s.q_start[i], m, buffer[3], false);
        for (int64_t h = 0; h < s.heads; h++) {
          const int64_t first = s.at[i] + h * m * n;
          const std::optional<Block> kept =
              keep ? std::optional<Block>(Block(probabilities, first, m * n, scratch.data())) : std::nullopt;
          float *p = kept ? kept->at : scratch.data();
          redsi_k_gemm(0, 1, m, n, d, float(s.scale), Q.at + h * d, Q.ld, K.at + h * d, K.ld, p, n);
          redsi_k_softmax(p, B ? B + h * head_stride : nullptr, row_stride, m, n, s.causal);
          if (kept) kept->written();
          if (s.dropout > 0) {
            float *dropped = scratch.data() + s.q_most * s.k_most;
            redsi_k_dropout(dropped - first, p - first, nullptr, first, first + m * n, mask);
            p = dropped;
          }
          redsi_k_gemm(0, 0, m, d, n, 1, p, n, V.at + h * d, V.ld, out.at + h * d, out.ld);
        }
        out.written();
      }
    });
    if (keep) {
      ctx->save_for_backward({q, k, v, bias, probabilities});
      ctx->saved_data["spans"] = c10::IValue::make_capsule(spans);
    }
    return out_;
  }

  // With D = dropout(P): dV = Dᵀ·dO, dP = dropout(dO·Vᵀ), dS = P∘(dP - rowsum(dP∘P)),
  // dQ = scale·dS·K, dK = scale·dSᵀ·Q, dBias = sum of dS over sequences.
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor g = rows(grads[0]), q = saved[0], k = saved[1], v = saved[2], bias = saved[3], probabilities = saved[4];
    const auto spans = c10::static_intrusive_pointer_cast<Spans>(ctx->saved_data["spans"].toCapsule());
    const Spans &s = *spans;
    const int64_t width = q.size(1), d = width / s.heads;
    // Rows outside of every sequence have gradient 0; without gaps none is left unset.
    int64_t q_rows = 0, k_rows = 0;
    for (size_t i = 0; i < s.size(); i++) q_rows += s.q_len[i], k_rows += s.k_len[i];
    const auto fresh = [&](int64_t n, int64_t used) {
      return used == n ? at::empty({n, width}, q.options()) : at::zeros({n, width}, q.options());
    };
    const Tensor dq = fresh(q.size(0), q_rows), dk = fresh(k.size(0), k_rows), dv = fresh(k.size(0), k_rows);
    // So few that the gradients of the bias stay below 128 MB.
    const int64_t bias_size = bias.defined() ? s.heads * bias.size(1) * bias.size(2) : 1;
    const int64_t blocks = shares_of(std::min<int64_t>(int64_t(s.size()), (int64_t(1) << 25) / bias_size));
    Tensor dbias_ = bias.defined() && ctx->needs_input_grad(3)
                        ? at::zeros({blocks, s.heads, bias.size(1), bias.size(2)}, bias.options())
                        : Tensor();
    float *dbias = dbias_.defined() ? dbias_.data_ptr<float>() : nullptr;
    const int64_t head_stride = dbias ? dbias_.stride(1) : 0, row_stride = dbias ? dbias_.stride(2) : 0;
    const redsi_mask mask = mask_of(s.dropout, s.key);
    at::parallel_for(0, blocks, 1, [&](int64_t first_block, int64_t last_block) {
      const OneThread guard;
      std::vector<float> scratch(size_t(3 * s.q_most * s.k_most)), buffer[7];
      for (int64_t block = first_block; block < last_block; block++) {
        const int64_t begin = int64_t(s.size()) * block / blocks, end = int64_t(s.size()) * (block + 1) / blocks;
        for (int64_t i = begin; i < end; i++) {
          const int64_t m = s.q_len[i], n = s.k_len[i], qo = s.q_start[i], ko = s.k_start[i];
          const Rows Q(q, qo, m, buffer[0]), K(k, ko, n, buffer[1]), V(v, ko, n, buffer[2]), G(g, qo, m, buffer[3]);
          const Rows dQ(dq, qo, m, buffer[4], false), dK(dk, ko, n, buffer[5], false), dV(dv, ko, n, buffer[6], false);
          for (int64_t h = 0; h < s.heads; h++) {
            const int64_t first = s.at[i] + h * m * n, at = h * d;
            float *dp = scratch.data(), *tmp = dp + s.q_most * s.k_most;
            const float *p = Block::read(probabilities, first, m * n, tmp + s.q_most * s.k_most).at, *dropped = p;
            if (s.dropout > 0) {
              redsi_k_dropout(tmp - first, p - first, nullptr, first, first + m * n, mask);
              dropped = tmp;
            }
            redsi_k_gemm(1, 0, n, d, m, 1, dropped, n, G.at + at, G.ld, dV.at + at, dV.ld);
            redsi_k_gemm(0, 1, m, n, d, 1, G.at + at, G.ld, V.at + at, V.ld, dp, n);
            if (s.dropout > 0) {
              redsi_k_dropout(tmp - first, dp - first, nullptr, first, first + m * n, mask);
              dp = tmp;
            }
            float *db = dbias ? dbias + block * dbias_.stride(0) + h * head_stride : nullptr;
            redsi_k_softmax_backward(dp, p, db, row_stride, m, n);
            redsi_k_gemm(0, 0, m, d, n, float(s.scale), dp, n, K.at + at, K.ld, dQ.at + at, dQ.ld);
            redsi_k_gemm(1, 0, n, d, m, float(s.scale), dp, n, Q.at + at, Q.ld, dK.at + at, dK.ld);
          }
          dQ.written(), dK.written(), dV.written();
        }
      }
    });
    return {dq, dk, dv, dbias_.defined() ? (blocks == 1 ? dbias_[0] : dbias_.sum(0)) : Tensor(), Tensor(), Tensor()};
  }
};

inline uint16_t *bits_of(const Tensor &t) { return reinterpret_cast<uint16_t *>(t.data_ptr<at::BFloat16>()); }

// attend_by_pairs is Attention forward of bfloat16 without dropout, by products of bfloat16: probabilities are rounded to multiply with v,
// scores are not. A thread takes a head of a sequence after another.
inline Tensor attend_by_pairs(const Tensor &q_, const Tensor &k_, const Tensor &v_, const std::optional<Tensor> &bias_, const Spans &s) {
  const Tensor q = rows(q_), k = rows(k_), v = rows(v_), out = at::empty(q.sizes(), q.options());
  const Tensor bias = bias_ ? bias_->contiguous() : Tensor();
  const int64_t d = q.size(1) / s.heads, deep = d / 2, keys = ceil_to(s.k_most, 2), threads = at::get_num_threads();
  const int64_t block = std::min(ceil_to(s.q_most, REDSI_ROWS), int64_t(4 * REDSI_ROWS)); // rows whose scores stay in a core's cache
  const int64_t sizes[] = {ceil_to(s.k_most, REDSI_COLUMNS) * deep, keys / 2 * ceil_to(d, REDSI_COLUMNS), block * keys, block * keys / 2,
                           block * std::max(deep, keys / 2), block * d};
  int64_t all = 0;
  for (const int64_t n : sizes) all += n;
  const Tensor memory = at::empty({threads, all}, at::TensorOptions().dtype(at::kFloat));
  shared(int64_t(s.size()) * s.heads, threads, [&](int64_t share, int64_t thread) {
    float *part[6], *next = memory.data_ptr<float>() + thread * all;
    for (int i = 0; i < 6; next += sizes[i++]) part[i] = next;
    const auto [columns, values, scores, narrow, panels, wide] = part;
    const int64_t i = share / s.heads, h = share % s.heads, m = s.q_len[i], n = s.k_len[i], pairs = (n + 1) / 2;
    const auto head = [&](const Tensor &t, int64_t row) { return bits_of(t) + row * t.stride(0) + h * d; };
    uint16_t *to = head(out, s.q_start[i]);
    const auto in_pairs = [](const uint16_t *x) { return reinterpret_cast<const float *>(x); };
    redsi_k_pack(columns, in_pairs(head(k, s.k_start[i])), k.stride(0) / 2, 1, n, deep, REDSI_COLUMNS);
    redsi_k_pack_columns(reinterpret_cast<uint32_t *>(values), head(v, s.k_start[i]), v.stride(0), n, d, REDSI_COLUMNS);
    for (int64_t r = 0; r < m; r += block) {
      const int64_t count = std::min(block, m - r);
      redsi_k_pack(panels, in_pairs(head(q, s.q_start[i] + r)), q.stride(0) / 2, 1, count, deep, REDSI_ROWS);
      redsi_k_packed_product(scores, n, panels, REDSI_ROWS * deep, columns, REDSI_COLUMNS * deep, nullptr, count, n, deep, 0, 1);
      uint16_t *p = reinterpret_cast<uint16_t *>(narrow);
      redsi_k_softmax_pairs(p, 2 * pairs, scores, float(s.scale),
                             bias.defined() ? bias.data_ptr<float>() + h * bias.stride(0) + r * bias.stride(1) : nullptr,
                             bias.defined() ? bias.stride(1) : 0, count, n);
      redsi_k_pack(panels, narrow, pairs, 1, count, pairs, REDSI_ROWS);
      redsi_k_packed_product(wide, d, panels, REDSI_ROWS * pairs, values, REDSI_COLUMNS * pairs, nullptr, count, d, pairs, 0, 1);
      for (int64_t j = 0; j < count; j++) redsi_k_narrow(to + (r + j) * out.stride(0), wide + j * d, d);
    }
  });
  return out;
}

inline Tensor attend(const Tensor &q, const Tensor &k, const Tensor &v, const std::optional<Tensor> &bias,
                     const redsi_attention_args &args) {
  TORCH_CHECK(args.dropout >= 0 && args.dropout < 1, "probability ", args.dropout, " is not in [0, 1)");
  const auto spans = c10::make_intrusive<Spans>(args);
  spans->fit(q, k, v, bias ? *bias : Tensor());
  TORCH_CHECK(fits(q) && k.scalar_type() == q.scalar_type() && v.scalar_type() == q.scalar_type() &&
                  (!bias || plain(*bias)),
              "operands are not of one type, float32 or bfloat16, on a CPU with a bias in float32");
  const bool keep = at::GradMode::is_enabled() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                                   (bias && bias->requires_grad()));
  const auto even = [](const Tensor &t) { return t.stride(0) % 2 == 0 && t.stride(1) == 1; };
  if (half(q) && !keep && !args.causal && args.dropout == 0 && q.size(1) / args.heads % 2 == 0 && redsi_k_wide_pairs() && even(q) && even(k) && even(v))
    return attend_by_pairs(q, k, v, bias, *spans);
  return Attention::apply(q, k, v, bias, spans, keep);
}

} // namespace redsi
