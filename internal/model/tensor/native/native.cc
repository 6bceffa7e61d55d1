// Dropout, ReLU and RMS norm: forward and backward in one pass each. On another
// device or type than CPU and float32 each is composed of libtorch's operations.
#include "activation.h"
#include "adafactor.h"
#include "adamw.h"
#include "attention.h"
#include "classes.h"
#include "common.h"
#include "half.h"
#include "head.h"
#include "linear.h"
#include "multi.h"
#include "pointwise.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace redsi {

Tensor seeded_dropout(const Tensor &x, double p, uint64_t key) {
  if (p == 0) return x;
  if (x.is_cuda()) return std::get<0>(at::native_dropout(x, p, true));
  at::Generator generator = at::globalContext().defaultGenerator(x.device());
  {
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(key);
  }
  return at::dropout(x, p, true);
}

namespace {

// drop is (residual or 0) + mask(x), of a type.
Tensor drop(const Tensor &x_, const std::optional<Tensor> &residual_, at::ScalarType type, double p, uint64_t key) {
  const Tensor x = x_.contiguous(), residual = residual_ ? residual_->contiguous() : Tensor();
  Tensor y = at::empty_like(x, x.options().dtype(type));
  const float *add = residual.defined() ? residual.data_ptr<float>() : nullptr;
  const redsi_mask mask = mask_of(p, key);
  at::parallel_for(0, x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    float in[kBlock], out[kBlock];
    by_blocks(begin, end, [&](int64_t i, int64_t n) {
      const Block to(y, i, n, out);
      redsi_k_dropout(to.at - i, Block::read(x, i, n, in).at - i, add, i, i + n, mask);
      to.written();
    });
  });
  return y;
}

struct Dropout : Function<Dropout> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x, const std::optional<Tensor> &residual, double p,
                        int64_t key) {
    ctx->saved_data["p"] = p;
    ctx->saved_data["key"] = key;
    ctx->saved_data["add"] = residual.has_value();
    ctx->saved_data["type"] = int64_t(x.scalar_type());
    return drop(x, residual, residual ? at::kFloat : x.scalar_type(), p, uint64_t(key));
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const double p = ctx->saved_data["p"].toDouble();
    const auto type = at::ScalarType(ctx->saved_data["type"].toInt());
    const Tensor dx =
        p == 0 ? grads[0].to(type) : drop(grads[0], std::nullopt, type, p, uint64_t(ctx->saved_data["key"].toInt()));
    return {dx, ctx->saved_data["add"].toBool() ? grads[0] : Tensor(), Tensor(), Tensor()};
  }
};

struct ReluDropout : Function<ReluDropout> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x_, double p, int64_t key) {
    const Tensor x = x_.contiguous();
    Tensor y = at::empty_like(x);
    const redsi_mask mask = mask_of(p, uint64_t(key));
    at::parallel_for(0, x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      float in[kBlock], out[kBlock];
      by_blocks(begin, end, [&](int64_t i, int64_t n) {
        const Block to(y, i, n, out);
        redsi_k_relu(to.at - i, Block::read(x, i, n, in).at - i, i, i + n, mask);
        to.written();
      });
    });
    ctx->save_for_backward({y});
    ctx->saved_data["p"] = p;
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const Tensor y = ctx->get_saved_variables()[0], g = grads[0].contiguous();
    Tensor dx = at::empty_like(y);
    const float scale = mask_of(ctx->saved_data["p"].toDouble(), 0).scale;
    at::parallel_for(0, y.numel(), kGrain, [&](int64_t begin, int64_t end) {
      float in[kBlock], of[kBlock], out[kBlock];
      by_blocks(begin, end, [&](int64_t i, int64_t n) {
        const Block to(dx, i, n, out);
        redsi_k_relu_backward(to.at, Block::read(g, i, n, in).at, Block::read(y, i, n, of).at, n, scale);
        to.written();
      });
    });
    return {dx, Tensor(), Tensor()};
  }
};

// RMSNorm keeps x and 1/rms of each row. Of a result in bfloat16, which the product after it keeps anyway, it keeps that in x's
// stead: x is read from it again, to 8 bits, unless a weight is as good as 0.
struct RMSNorm : Function<RMSNorm> {
  static Tensor forward(AutogradContext *ctx, const Tensor &x_, const Tensor &w, double eps, at::ScalarType type) {
    const Tensor x = x_.contiguous();
    const int64_t d = x.size(-1), n = x.numel() / std::max<int64_t>(d, 1);
    Tensor y = at::empty_like(x, x.options().dtype(type)), inverse = at::empty({n}, x.options());
    const float *in = x.data_ptr<float>(), *scale = w.data_ptr<float>();
    float *inv = inverse.data_ptr<float>();
    at::parallel_for(0, n, grain(d), [&](int64_t begin, int64_t end) {
      std::vector<float> out(half(y) ? size_t(d) : 0);
      for (int64_t some = half(y) ? 1 : end - begin; begin < end; begin += some) {
        const Block to(y, begin * d, some * d, out.data());
        redsi_k_rms_norm(to.at, inv + begin, in + begin * d, scale, some, d, float(eps));
        to.written();
      }
    });
    const bool tells = half(y) && std::all_of(scale, scale + d, [](float of) { return std::abs(of) > 1e-20f; });
    ctx->save_for_backward({tells ? y : x, w, inverse});
    return y;
  }
  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor g = grads[0].contiguous(), x = saved[0], w = saved[1], inverse = saved[2];
    const int64_t d = x.size(-1), n = inverse.numel();
    Tensor dx_ = at::empty_like(x, w.options());
    const int64_t blocks = n * d < kGrain ? 1 : shares_of(n);
    Tensor dw_ = at::zeros({blocks, d}, w.options());
    const float *scale = w.data_ptr<float>(), *inv = inverse.data_ptr<float>();
    float *dx = dx_.data_ptr<float>(), *dw = dw_.data_ptr<float>();
    at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
      std::vector<float> buffer(half(g) ? size_t(d) : 0), of(half(x) ? size_t(d) : 0);
      for (int64_t block = first; block < last; block++) {
        int64_t begin = n * block / blocks;
        const int64_t end = n * (block + 1) / blocks;
        for (int64_t some = half(g) ? 1 : end - begin; begin < end; begin += some) {
          const Block in = Block::read(x, begin * d, some * d, of.data());
          if (half(x)) redsi_k_rms_norm_input(in.at, inv[begin], scale, d);
          redsi_k_rms_norm_backward(dx + begin * d, dw + block * d, Block::read(g, begin * d, some * d, buffer.data()).at,
                                    inv + begin, in.at, scale, some, d);
        }
      }
    });
    return {dx_, dw_.sum(0), Tensor(), Tensor()};
  }
};

} // namespace
} // namespace redsi

using namespace redsi;

extern "C" {

// MKL's products have the same bytes for any number of threads if it is told so before its first
// one, by its own variable, on Intel's processors with AVX2. Elsewhere what gemm.h has does.
__attribute__((constructor)) static void ask_for_same_bytes() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2")) setenv("MKL_CBWR", "AUTO,STRICT", 0);
#endif
}
int redsi_same_for_any_threads(void) {
#if defined(__x86_64__)
  const char *asked = getenv("MKL_CBWR");
  const bool mkl = __builtin_cpu_is("intel") && asked && strstr(asked, "STRICT");
  return mkl || redsi_k_wide();
#else
  return 0;
#endif
}

// OpenMP keeps the number per calling thread: set on one, it does not reach another
// that has computed before.
static std::atomic<int> wanted_threads{0};
static thread_local int share_of_threads = 0; // 0: all
void redsi_share_threads(int n) {
  int none = 0; // until now it was libtorch's, which a thread with a share would take away from those that begin later
  wanted_threads.compare_exchange_strong(none, at::get_num_threads());
  share_of_threads = n;
  redsi_adopt_num_threads();
}
void redsi_set_num_threads(int n) {
  wanted_threads = n;
  at::set_num_threads(n);
}
void redsi_adopt_num_threads(void) {
  const int n = share_of_threads > 0 ? share_of_threads : wanted_threads.load();
  if (n > 0 && at::get_num_threads() != n) at::set_num_threads(n);
}
int redsi_num_threads(void) {
  const int n = share_of_threads > 0 ? share_of_threads : wanted_threads.load(); // OpenMP's own number is that of whichever thread asks
  return n > 0 ? n : at::get_num_threads();
}

// The version of the libtorch that is loaded, from its interface for C, 2.12.0 being 0x020c000000000000.
uint64_t aoti_torch_abi_version(void);
static int part_of_version(int of) { return int(aoti_torch_abi_version() >> (56 - 8 * of) & 255); }
const char *redsi_version(void) {
  static const std::string all = std::to_string(part_of_version(0)) + "." + std::to_string(part_of_version(1)) + "." +
                                 std::to_string(part_of_version(2));
  return all.c_str();
}
// A program is for the libtorch of its headers and for the next: libtorch's classes lie in memory as they are compiled
// into it (docs/toolchain.md). With another one it ends before anything of libtorch's is used.
__attribute__((constructor(101))) static void refuse_others() {
  const int later = part_of_version(1) - TORCH_VERSION_MINOR;
  if (part_of_version(0) == TORCH_VERSION_MAJOR && (later == 0 || later == 1)) return;
  fprintf(stderr,
          "redsi-models: libtorch %d.%d is loaded, and this program is for %d.%d and %d.%d: see LD_LIBRARY_PATH, or "
          "install one of these, as with pip install 'torch==%d.%d.*'\n",
          part_of_version(0), part_of_version(1), TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR, TORCH_VERSION_MAJOR,
          TORCH_VERSION_MINOR + 1, TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
  _exit(2);
}
// A local string is copied: the caller frees it.
char *redsi_cpu_capability(void) { return strdup(at::get_cpu_capability().c_str()); }

static c10::DeviceAllocator &card_allocator() {
  auto *allocator = dynamic_cast<c10::DeviceAllocator *>(c10::GetAllocator(c10::DeviceType::CUDA));
  TORCH_CHECK(allocator, "libtorch's allocator of CUDA devices does not count");
  return *allocator;
}

char *redsi_card_free(int device, int64_t *free, int64_t *total) {
  return guarded([&] {
    auto &allocator = card_allocator();
    const auto [unused, all] = allocator.getMemoryInfo(c10::DeviceIndex(device));
    int64_t kept = 0;
    if (allocator.initialized()) {
      const auto stats = allocator.getDeviceStats(c10::DeviceIndex(device));
      const auto whole = size_t(c10::CachingAllocator::StatType::AGGREGATE);
      kept = stats.reserved_bytes[whole].current - stats.allocated_bytes[whole].current;
    }
    *free = int64_t(unused) + kept;
    *total = int64_t(all);
  });
}

char *redsi_card_memory(int device, int64_t *now, int64_t *most) {
  return guarded([&] {
    *now = *most = 0;
    auto *allocator = &card_allocator();
    if (!allocator->initialized()) return;
    const auto stats = allocator->getDeviceStats(c10::DeviceIndex(device));
    const auto &all = stats.allocated_bytes[size_t(c10::CachingAllocator::StatType::AGGREGATE)];
    *now = all.current;
    *most = all.peak;
  });
}

// The pinned block is not used again before it is copied: its allocator sees to that.
static Tensor pinned(const int64_t *numbers, int64_t n, bool pin) {
  Tensor host = at::empty({n}, at::TensorOptions().dtype(at::kLong).pinned_memory(pin));
  if (n > 0) std::memcpy(host.data_ptr<int64_t>(), numbers, size_t(n) * sizeof(int64_t));
  return host;
}

char *redsi_upload(void **out, const int64_t *numbers, int64_t n, int device) {
  return guarded([&] {
    const Tensor host = pinned(numbers, n, device >= 0);
    *out = new Tensor(device < 0 ? host : host.to(at::Device(at::kCUDA, c10::DeviceIndex(device)), at::kLong, true));
  });
}

char *redsi_upload_into(void *to_, const int64_t *numbers, int64_t n) {
  return guarded([&] {
    const Tensor &to = deref(to_);
    TORCH_CHECK(to.scalar_type() == at::kLong && to.is_contiguous() && to.numel() == n, n, " numbers for ", to.sizes());
    if (to.is_cuda())
      Tensor(to).copy_(pinned(numbers, n, true), true);
    else if (n > 0)
      std::memcpy(to.data_ptr<int64_t>(), numbers, size_t(n) * sizeof(int64_t));
  });
}

char *redsi_dropout(void **out, void *x_, void *residual_, double p, uint64_t key) {
  return guarded([&] {
    const Tensor &x = deref(x_);
    const std::optional<Tensor> residual = optional(residual_);
    TORCH_CHECK(p >= 0 && p < 1, "probability ", p, " is not in [0, 1)");
    TORCH_CHECK(!residual || residual->sizes() == x.sizes(), "the residual has another shape");
    if (fits(x) && (!residual || plain(*residual))) {
      *out = new Tensor(Dropout::apply(x, residual, p, int64_t(key)));
      return;
    }
    const Tensor dropped = seeded_dropout(x, p, key);
    if (residual && p > 0 && dropped.scalar_type() == residual->scalar_type()) {
      *out = new Tensor(Tensor(dropped).add_(*residual));
      return;
    }
    *out = new Tensor(residual ? *residual + dropped : dropped);
  });
}

char *redsi_relu_dropout(void **out, void *x_, double p, uint64_t key) {
  return guarded([&] {
    const Tensor &x = deref(x_);
    TORCH_CHECK(p >= 0 && p < 1, "probability ", p, " is not in [0, 1)");
    *out = new Tensor(fits(x) ? ReluDropout::apply(x, p, int64_t(key)) : ComposedRelu::apply(x, p, int64_t(key)));
  });
}

char *redsi_rms_norm(void **out, void *x_, void *w_, double eps, int rounded) {
  return guarded([&] {
    const Tensor &x = deref(x_), &w = deref(w_);
    TORCH_CHECK(x.dim() > 0 && w.dim() == 1 && x.size(-1) == w.size(0), "the weight does not fit the last dimension");
    TORCH_CHECK(!rounded || (plain(x) && plain(w)), "only float32 on a CPU is rounded along with its norm");
    if (plain(x) && plain(w) && w.is_contiguous()) {
      *out = new Tensor(RMSNorm::apply(x, w, eps, rounded ? at::kBFloat16 : at::kFloat));
      return;
    }
    if (w.scalar_type() == x.scalar_type()) {
      *out = new Tensor(FusedRMSNorm::apply(x, w, eps));
      return;
    }
    const Tensor wide = x.to(at::kFloat);
    const Tensor inverse = at::rsqrt(wide.square().mean(-1, true) + eps);
    *out = new Tensor(w * (wide * inverse).to(w.scalar_type()));
  });
}

char *redsi_activation(void **out, void *x, int64_t kind) {
  return guarded([&] { *out = new Tensor(activation(deref(x), kind)); });
}

char *redsi_attention(void **out, void *q, void *k, void *v, void *bias, const redsi_attention_args *args) {
  return guarded([&] { *out = new Tensor(attend(deref(q), deref(k), deref(v), optional(bias), *args)); });
}

char *redsi_linear(void **out, void *x, void *w, void *bias) {
  return guarded([&] { *out = new Tensor(linear_layer(deref(x), deref(w), optional(bias))); });
}

char *redsi_pack_rows(void **out, void *w) {
  return guarded([&] { *out = new Tensor(pack_rows(deref(w))); });
}

char *redsi_packed_linear(void **out, void *x, void *packed, int64_t n, void *bias) {
  return guarded([&] { *out = new Tensor(packed_linear(deref(x), deref(packed), n, optional(bias))); });
}

char *redsi_pack_bf16(void **out, void *w) {
  return guarded([&] { *out = new Tensor(pack_bf16(deref(w))); });
}

char *redsi_packed_linear_bf16(void **out, void *x, void *w, void *bias, void *residual, const char *activation) {
  return guarded(
      [&] { *out = new Tensor(packed_linear_bf16(deref(x), deref(w), deref(bias), optional(residual), activation)); });
}

char *redsi_extend(void **out, void *old_, void *order_, void *step_) {
  return guarded([&] {
    const Tensor old = deref(old_).contiguous(), step = contiguous_rows(deref(step_));
    const std::optional<Tensor> order = optional(order_);
    const int64_t rows = step.size(0), width = step.size(1), had = old.size(1) * width * old.element_size(), more = width * old.element_size();
    TORCH_CHECK(old.is_cpu() && old.scalar_type() == step.scalar_type() && old.dim() == 3 && old.size(2) == width &&
                    (order ? order->numel() : old.size(0)) == rows, "rows of ", old.sizes(), " and a step of ", step.sizes());
    const Tensor all = at::empty({rows, old.size(1) + 1, width}, old.options());
    const int64_t *at = order ? order->const_data_ptr<int64_t>() : nullptr;
    const char *from = static_cast<const char *>(old.const_data_ptr()), *next = static_cast<const char *>(step.const_data_ptr());
    char *to = static_cast<char *>(all.mutable_data_ptr());
    at::parallel_for(0, rows, grain(had / 4), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; r++) {
        const int64_t row = at ? at[r] : r;
        TORCH_CHECK(row >= 0 && row < old.size(0), "row ", row, " of ", old.size(0));
        memcpy(to + r * (had + more), from + row * had, had);
        memcpy(to + r * (had + more) + had, next + r * step.stride(0) * old.element_size(), more);
      }
    });
    *out = new Tensor(all);
  });
}

char *redsi_wide_linear(void **out, void *x, void *w) {
  return guarded([&] { *out = new Tensor(WideLinear::apply(deref(x), deref(w))); });
}

char *redsi_head_loss(void **out, void *h, void *w, void *labels, int64_t ignore, double smooth) {
  return guarded([&] { *out = new Tensor(head_loss(deref(h), deref(w), deref(labels), ignore, smooth)); });
}

char *redsi_adafactor(void *p, void *g, void *row, void *col, void *full, const redsi_adafactor_args *args) {
  return guarded([&] { adafactor(deref(p), deref(g), optional(row), optional(col), optional(full), *args); });
}

char *redsi_adamw_update(void *p, void *g, void *m, void *v, const redsi_adamw_args *args) {
  return guarded([&] { adamw(deref(p), deref(g), deref(m), deref(v), *args); });
}

char *redsi_copy_all(void **to, void **from, int64_t n) {
  return guarded([&] { copy_all(list(to, n), list(from, n)); });
}

char *redsi_check(void *state, void *loss, void **grads, int64_t n, void *slot, const redsi_check_args *args) {
  return guarded([&] { check(deref(state), deref(loss), list(grads, n), deref(slot), *args); });
}

char *redsi_adafactor_all(void **p, void **g, int64_t n, const int64_t *classes, int64_t n_classes, void *means,
                          void *inverse, void *steps, double power, void *rate, void *found, void *divisor,
                          const redsi_adafactor_args *args) {
  return guarded([&] {
    std::vector<Class> all;
    for (const int64_t *c = classes; c < classes + 3 * n_classes; c += 3) all.push_back({c[0], c[1], c[2]});
    adafactor_all(list(p, n), list(g, n), all, deref(means), deref(inverse), deref(steps).pow(power),
                  deref(rate), optional(found), optional(divisor), *args);
  });
}

char *redsi_adamw_all(void **p, void **g, void **m, void **v, int64_t n, void *steps, void *rate, void *found,
                      void *divisor, const redsi_adamw_args *args) {
  return guarded([&] {
    adamw_all(list(p, n), list(g, n), list(m, n), list(v, n), deref(steps), deref(rate), optional(found),
              optional(divisor), *args);
  });
}

char *redsi_square_sum(double *out, void *t) {
  return guarded([&] { *out = square_sum(deref(t)); });
}

char *redsi_add_rows(void *to_, void *index_, void *from_) {
  return guarded([&] {
    const at::NoGradGuard guard;
    const Tensor &to = deref(to_), &index = deref(index_), from = deref(from_).contiguous();
    TORCH_CHECK(to.dim() == 2 && from.dim() == 2 && to.size(1) == from.size(1) && index.dim() == 1 &&
                    index.size(0) == from.size(0) && index.scalar_type() == at::kLong,
                "rows do not fit");
    if (to.is_cuda()) {
      add_rows_on_card(to, index, from);
      return;
    }
    if (!plain(to) || !plain(from) || !to.is_contiguous() || !index.is_contiguous()) {
      Tensor(to).index_add_(0, index, from);
      return;
    }
    const int64_t *row = index.data_ptr<int64_t>(), n = to.size(1);
    for (int64_t i = 0; i < index.size(0); i++)
      TORCH_CHECK(row[i] >= 0 && row[i] < to.size(0), "row ", row[i], " of ", to.size(0));
    for (int64_t i = 0; i < index.size(0); i++)
      redsi_k_add(to.data_ptr<float>() + row[i] * n, from.data_ptr<float>() + i * n, n);
  });
}

} // extern "C"
