// Memory of the card of software: addresses that nobody may touch, and the same bytes where the host may.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace fakecard {

constexpr size_t kSpace = size_t(1) << 36; // of addresses; pages are the system's once they are written

// Blocks cuts one reservation into blocks, and keeps what is given back for the next of its size.
struct Blocks {
  std::mutex lock;
  char *base;
  size_t next = 0;
  std::map<size_t, std::vector<size_t>> unused; // by size, offsets
  std::map<size_t, size_t> used;                // size by offset

  explicit Blocks(int protection)
      : base(static_cast<char *>(mmap(nullptr, kSpace, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    TORCH_CHECK(base != MAP_FAILED, "the card of software finds no addresses for its memory");
  }
  static size_t rounded(size_t n) {
    if (n > size_t(1) << 20) return (n + (size_t(1) << 20) - 1) >> 20 << 20;
    size_t of = 512;
    while (of < n) of *= 2;
    return of;
  }
  size_t take(size_t n) {
    const size_t size = rounded(n);
    const std::lock_guard<std::mutex> hold(lock);
    size_t at;
    if (auto &free = unused[size]; !free.empty()) {
      at = free.back();
      free.pop_back();
    } else {
      TORCH_CHECK(next + size <= kSpace, "CUDA out of memory. Tried to allocate ", n, " bytes of the card of software");
      at = next;
      next += size;
    }
    used[at] = size;
    return at;
  }
  // give returns the size, and calls clean for a big block.
  template <typename F> void give(size_t at, F clean) {
    const std::lock_guard<std::mutex> hold(lock);
    const auto block = used.find(at);
    if (block->second > size_t(1) << 20) clean(at, block->second);
    unused[block->second].push_back(at);
    used.erase(block);
  }
  bool owns(const void *p) const { return p >= base && p < base + kSpace; }
};

class Memory final : public c10::DeviceAllocator {
  Blocks untouchable{PROT_NONE};
  char *host_base = Blocks(PROT_READ | PROT_WRITE).base;
  std::mutex lock;
  std::map<void *, size_t> sizes;
  int64_t now = 0, most = 0, first = 0, top = 0; // of peak: at its last call, and the most since

public:
  static void release(void *p);

  c10::DataPtr allocate(size_t n) override {
    if (n == 0) return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CUDA, 0)};
    const size_t at = untouchable.take(n);
    std::memset(host_base + at, 0xFF, n); // NaN, -1
    void *const p = untouchable.base + at;
    const std::lock_guard<std::mutex> hold(lock);
    sizes[p] = n;
    now += int64_t(n);
    most = std::max(most, now), top = std::max(top, now);
    return {p, p, &release, c10::Device(c10::DeviceType::CUDA, 0)};
  }
  void free(void *p) {
    if (!p) return;
    {
      const std::lock_guard<std::mutex> hold(lock);
      now -= int64_t(sizes[p]);
      sizes.erase(p);
    }
    untouchable.give(size_t(static_cast<char *>(p) - untouchable.base),
                     [&](size_t at, size_t n) { madvise(host_base + at, n, MADV_DONTNEED); });
  }
  // host is where the host may read and write what is at p of the card.
  void *host(void *p) {
    if (!p) return nullptr;
    TORCH_CHECK(untouchable.owns(p), "a tensor of the card has memory that is not the card's");
    return host_base + (static_cast<char *>(p) - untouchable.base);
  }

  // peak is how many bytes more there were at the most since the last call than at it.
  int64_t peak() {
    const std::lock_guard<std::mutex> hold(lock);
    const int64_t of = top - first;
    first = top = now;
    return of;
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t n) const override {
    auto *self = const_cast<Memory *>(this);
    std::memcpy(self->host(to), self->host(const_cast<void *>(from)), n);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    const std::lock_guard<std::mutex> hold(lock);
    c10::CachingDeviceAllocator::DeviceStats stats;
    auto &all = stats.allocated_bytes[size_t(c10::CachingAllocator::StatType::AGGREGATE)];
    all.current = now;
    all.peak = most;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {
    const std::lock_guard<std::mutex> hold(lock);
    most = now;
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override {
    const std::lock_guard<std::mutex> hold(lock);
    return {kSpace - size_t(now), kSpace};
  }
};

inline Memory &memory() {
  static auto *m = new Memory;
  return *m;
}
inline void Memory::release(void *p) { memory().free(p); }

// Pinned is the host's memory that a card copies from by itself.
class Pinned final : public c10::Allocator {
  Blocks blocks{PROT_READ | PROT_WRITE};

public:
  static void release(void *p);
  c10::DataPtr allocate(size_t n) override {
    void *const p = n == 0 ? nullptr : blocks.base + blocks.take(n);
    return {p, p, &release, c10::Device(c10::kCPU)};
  }
  void free(void *p) {
    if (p) blocks.give(size_t(static_cast<char *>(p) - blocks.base), [](size_t, size_t) {});
  }
  bool owns(const void *p) const { return blocks.owns(p); }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, size_t n) const override { default_copy_data(to, from, n); }
};
inline Pinned &pinned() {
  static auto *p = new Pinned;
  return *p;
}
inline void Pinned::release(void *p) { pinned().free(p); }

} // namespace fakecard
