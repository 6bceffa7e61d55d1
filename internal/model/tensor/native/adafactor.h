// One update of Adafactor (Shazeer and Stern, 2018), as transformers 4.44.1's
// optimization.Adafactor.step does it, without first moments: three passes over the
// gradient and one over the parameter.
#pragma once
#include "common.h"

namespace redsi {

// sum over shares of the rows, in the order of the shares.
template <typename F> double sum_rows(int64_t rows, int64_t n, F f) {
  const int64_t blocks = rows * n < kGrain ? 1 : shares_of(rows);
  std::vector<double> part(static_cast<size_t>(blocks), 0.0);
  at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++) part[size_t(b)] = f(rows * b / blocks, rows * (b + 1) / blocks);
  });
  double sum = 0;
  for (double v : part) sum += v;
  return sum;
}

inline double step_size(const Tensor &p, const redsi_adafactor_args &a) {
  if (!a.scale_parameter) return a.lr;
  const float *values = p.data_ptr<float>();
  const double square = sum_rows(p.numel(), 1, [&](int64_t begin, int64_t end) {
    return redsi_k_update_norm(values + begin, nullptr, nullptr, 0, 1, end - begin);
  });
  return a.lr * std::max(a.eps2, std::sqrt(square / double(p.numel())));
}

// A matrix: r = 1/sqrt(row/mean(row)), c = 1/sqrt(col), the update is g*r*c.
inline void adafactor_matrix(const Tensor &p_, const Tensor &g_, const Tensor &row_, const Tensor &col_,
                             const redsi_adafactor_args &a) {
  const int64_t rows = g_.size(0), n = g_.size(1);
  const float *g = g_.data_ptr<float>();
  float *p = p_.data_ptr<float>(), *row = row_.data_ptr<float>(), *col = col_.data_ptr<float>();
  const int64_t blocks = rows * n < kGrain ? 1 : shares_of(rows);
  std::vector<float> r(size_t(rows), 0.0f), c(size_t(n), 0.0f), part(size_t(blocks * n), 0.0f);
  at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++)
      redsi_k_square_sums(r.data(), part.data() + b * n, g, rows * b / blocks, rows * (b + 1) / blocks, n);
  });
  const float keep = float(a.beta2), add = float(1 - a.beta2), eps = float(a.eps1);
  double mean = 0;
  for (int64_t i = 0; i < rows; i++) {
    row[i] = row[i] * keep + (r[size_t(i)] + eps) * add;
    mean += row[i];
  }
  mean /= double(rows);
  for (int64_t i = 0; i < rows; i++) r[size_t(i)] = 1.0f / std::sqrt(row[i] / float(mean));
  for (int64_t j = 0; j < n; j++) {
    float sum = 0;
    for (int64_t b = 0; b < blocks; b++) sum += part[size_t(b * n + j)];
    col[j] = col[j] * keep + (sum / float(rows) + eps) * add;
    c[size_t(j)] = 1.0f / std::sqrt(col[j]);
  }
  const double square = sum_rows(rows, n, [&](int64_t begin, int64_t end) {
    return redsi_k_update_norm(g, r.data(), c.data(), begin, end, n);
  });
  const double lr = step_size(p_, a), rms = std::sqrt(square / double(rows * n));
  const float scale = float(lr / std::max(1.0, rms / a.clip)), decay = float(1 - a.weight_decay * lr);
  at::parallel_for(0, rows, grain(n), [&](int64_t begin, int64_t end) {
    redsi_k_update(p, g, r.data(), c.data(), scale, decay, begin, end, n);
  });
}

// A vector: the update is g/sqrt(full).
inline void adafactor_vector(const Tensor &p_, const Tensor &g_, const Tensor &full_, const redsi_adafactor_args &a) {
  const int64_t n = g_.numel();
  const float *g = g_.data_ptr<float>();
  float *full = full_.data_ptr<float>();
  std::vector<float> c(size_t(n), 0.0f);
  const float keep = float(a.beta2), add = float(1 - a.beta2), eps = float(a.eps1);
  for (int64_t j = 0; j < n; j++) {
    full[j] = full[j] * keep + (g[j] * g[j] + eps) * add;
    c[size_t(j)] = 1.0f / std::sqrt(full[j]);
  }
  const double square = redsi_k_update_norm(g, nullptr, c.data(), 0, 1, n);
  const double lr = step_size(p_, a), rms = std::sqrt(square / double(n));
  redsi_k_update(p_.data_ptr<float>(), g, nullptr, c.data(), float(lr / std::max(1.0, rms / a.clip)),
                 float(1 - a.weight_decay * lr), 0, 1, n);
}

// What changes one parameter at a time is not for cards (classes.h, multi.h).
constexpr const char *kOfCPU = "parameter and state are not float32 in row order, or the gradient not, on a CPU";

inline void adafactor(const Tensor &p, const Tensor &g, const std::optional<Tensor> &row,
                      const std::optional<Tensor> &col, const std::optional<Tensor> &full,
                      const redsi_adafactor_args &a) {
  const at::NoGradGuard guard;
  TORCH_CHECK(p.sizes() == g.sizes(), "the gradient has shape ", g.sizes());
  const bool state_fits = p.dim() == 2 ? row && col && row->numel() == p.size(0) && col->numel() == p.size(1)
                                       : p.dim() < 2 && full && full->numel() == p.numel();
  TORCH_CHECK(state_fits, "the state does not fit the parameter");
  if (p.numel() == 0) return;
  const auto fits = [](const Tensor &t) { return plain(t) && t.is_contiguous(); };
  TORCH_CHECK(fits(p) && g.is_cpu() && fits(row ? *row : *full), kOfCPU);
  if (p.dim() == 2)
    adafactor_matrix(p, widened(g), *row, *col, a);
  else
    adafactor_vector(p, widened(g), *full, a);
}

} // namespace redsi
