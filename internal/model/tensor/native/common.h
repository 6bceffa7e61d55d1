// What the C++ files share: guarded calls, operands, shares of the work.
#pragma once
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "kernels.h"
#include "native.h"

namespace redsi {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

inline const Tensor &deref(void *t) { return *static_cast<Tensor *>(t); }

inline std::optional<Tensor> optional(void *t) {
  return t ? std::optional<Tensor>(deref(t)) : std::nullopt;
}

template <typename F> char *guarded(F f) {
  try {
    f();
    return nullptr;
  } catch (const std::exception &e) {
    return strdup(e.what());
  } catch (...) {
    return strdup("unknown C++ exception");
  }
}

// plain: the kernels can work on it. All else is composed of libtorch's operations, which on a card make no copies
// between host and device and wait for nothing.
inline bool plain(const Tensor &t) { return t.is_cpu() && t.scalar_type() == at::kFloat; }

// widened is t as float32 in row order, itself where it is so already.
inline Tensor widened(const Tensor &t) { return t.to(at::kFloat).contiguous(); }

constexpr int64_t kGrain = 16384; // elements per thread below which threads cost more than they win
inline int64_t grain(int64_t row) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(row, 1)); }

// shares_of is how many shares n rows are cut into whose sums are added up in order. It does not
// depend on the number of threads, so that no result does.
constexpr int64_t kShares = 32;
inline int64_t shares_of(int64_t n) { return std::max<int64_t>(1, std::min(kShares, n)); }

inline redsi_mask mask_of(double p, uint64_t key) {
  return {key, uint32_t(std::llround(p * 4294967295.0)), float(1.0 / (1.0 - p))};
}

// OneThread keeps BLAS on this thread while it lives.
struct OneThread {
  int before = redsi_k_blas_threads(1);
  ~OneThread() { redsi_k_blas_threads(before); }
};

// Dropout on other devices and types, from libtorch's generator: on a card as it is (redsi_seed), else
// seeded with key.
Tensor seeded_dropout(const Tensor &x, double p, uint64_t key);

} // namespace redsi
