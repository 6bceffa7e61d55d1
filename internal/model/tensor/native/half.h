// Numbers of bfloat16 on a CPU, which the kernels compute with as float32: widened as they are read, and rounded to
// the nearest as they are written, by blocks that stay in a core's cache.
#pragma once
#include "common.h"

namespace redsi {

constexpr int64_t kBlock = 2048; // numbers of a block

inline bool half(const Tensor &t) { return t.scalar_type() == at::kBFloat16; }
// fits: the kernels can work on it, by blocks where it is bfloat16.
inline bool fits(const Tensor &t) { return t.is_cpu() && (half(t) || t.scalar_type() == at::kFloat); }

// Block is n numbers of a contiguous tensor from one on, as float32: where they lie, or in a buffer of n.
struct Block {
  float *at;
  uint16_t *bits = nullptr; // of bfloat16
  int64_t n;

  Block(const Tensor &t, int64_t from, int64_t n, float *buffer) : n(n) {
    if (half(t))
      at = buffer, bits = reinterpret_cast<uint16_t *>(t.data_ptr<at::BFloat16>()) + from;
    else
      at = t.data_ptr<float>() + from;
  }
  // read fills the buffer.
  void read() const {
    if (bits) redsi_k_widen(at, bits, n);
  }
  static Block read(const Tensor &t, int64_t from, int64_t n, float *buffer) {
    const Block b(t, from, n, buffer);
    b.read();
    return b;
  }
  // written puts what is in the buffer to where it belongs.
  void written() const {
    if (bits) redsi_k_narrow(bits, at, n);
  }
};

// by_blocks calls f(first, n) for blocks of the numbers from begin to end.
template <typename F> void by_blocks(int64_t begin, int64_t end, F f) {
  for (; begin < end; begin += kBlock) f(begin, std::min(kBlock, end - begin));
}

} // namespace redsi
