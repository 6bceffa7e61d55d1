// What table.h promises, by libtorch's CUDAGraph. It is compiled apart from redsi, against CUDA's headers (the part
// cuda-graphs), and names no library: libtorch's two halves and CUDA's runtime are loaded before it.
//
// It was run on an H200 (docs/card.md).
// What is known of libtorch 2.11.0 by its headers, its code and that run:
// - CUDAGraph registers the card's default generator itself. A replay draws from that one's seed and offset of then,
//   and moves the offset on, so that numbers are those of a step that is not recorded. A seed is set before a replay,
//   never while it is recorded. Meanwhile another thread that draws from the same generator fails.
// - Memory that is asked for on the recording stream, by the backward pass's threads too, lies in a pool of the graph.
//   Pools count the graphs that use them, so those of one may be freed in any order.
// - A failed end leaves the allocators taking memory for the graph, and the generator refusing to draw. abandon() mends
//   both.
// - Of the threads only the one that records may not wait for the card or take memory of it by other ways than
//   libtorch's (cudaStreamCaptureModeThreadLocal): uploads of other threads go on.

#include "table.h"

#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

template <typename F> bool quietly(F f) noexcept {
  try {
    f();
    return true;
  } catch (...) {
    return false;
  }
}

template <typename F> char *told(F f) noexcept {
  try {
    f();
    return nullptr;
  } catch (const c10::Error &e) {
    return strdup(e.what_without_backtrace());
  } catch (const std::exception &e) {
    return strdup(e.what());
  } catch (...) {
    return strdup("an exception without words");
  }
}

// A stream of each card on which all is recorded, one graph at a time: the generator knows of one recording only, and
// cuBLAS keeps a workspace for each stream that it sees. It lives as long as the process.
struct Stream {
  c10::cuda::CUDAStream stream;
  bool taken;
};

std::mutex mutex;

std::map<int, Stream> &streams() {
  static auto *all = new std::map<int, Stream>;
  return *all;
}

c10::cuda::CUDAStream take(int device) {
  const std::lock_guard<std::mutex> lock(mutex);
  auto at = streams().find(device);
  if (at == streams().end())
    at = streams().emplace(device, Stream{c10::cuda::getStreamFromPool(false, c10::DeviceIndex(device)), false}).first;
  TORCH_CHECK(!at->second.taken, "a graph is being recorded on cuda:", device, " already");
  at->second.taken = true;
  return at->second.stream;
}

void give(int device) {
  const std::lock_guard<std::mutex> lock(mutex);
  streams().at(device).taken = false;
}

// Taken is a card's stream, and the thread's current one, from when it is made to its end.
struct Taken {
  int device;
  c10::cuda::CUDAStream stream;
  std::optional<c10::cuda::CUDAStreamGuard> guard;

  explicit Taken(int of) : device(of), stream(take(of)) {
    try {
      guard.emplace(stream);
    } catch (...) {
      give(device);
      throw;
    }
  }
  ~Taken() {
    quietly([&] { guard.reset(); });
    give(device);
  }
};

struct Graph final : at::cuda::CUDAGraph {
  std::unique_ptr<Taken> taken; // while it is recorded
  bool counted = false;         // its pool counts it

  ~Graph() { abandon(); }

  void begin(int device, Graph *beside) {
    const c10::MempoolId_t shared = beside ? beside->pool() : c10::MempoolId_t{0, 0};
    taken = std::make_unique<Taken>(device);
    // The host is ahead of the card: replays that it has asked for still read the generator's seed, which the recording
    // writes, and what lies in cuBLAS's workspace of this stream, which the product below writes. Neither is ordered
    // with this stream, so the card comes to rest first.
    c10::cuda::device_synchronize();
    {
      // cuBLAS makes a handle for a thread, and libtorch a workspace for it on a stream, when they are first used: now,
      // since the one may not be made while it is recorded, and the other would lie in the graph's memory for good.
      const at::Tensor one = at::ones({1, 1}, at::TensorOptions(c10::Device(c10::kCUDA, c10::DeviceIndex(device))));
      at::mm(one, one);
    }
    // What steps before this one left to be used again would else be there twice.
    allocator::emptyCache();
    capture_begin(shared, cudaStreamCaptureModeThreadLocal);
    counted = true;
  }

  void end() {
    TORCH_CHECK(taken && counted, "nothing is being recorded");
    capture_end();
    taken->stream.synchronize(); // the generator's numbers were written on it
    taken.reset();
  }

  // Ends a recording that failed, or that nobody ended: card, allocators and generator are as they were before.
  void abandon() noexcept {
    if (!taken) return;
    const cudaStream_t stream = taken->stream.stream();
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone) {
      cudaGraph_t rest = nullptr;
      if (cudaStreamEndCapture(stream, &rest) == cudaSuccess && rest) cudaGraphDestroy(rest);
    }
    cudaGetLastError(); // of these calls: none is an operation's
    for (auto &[state, increment] : captured_generator_states_) state->capturing_ = false;
    auto *host = at::getHostAllocator(at::kCUDA);
    const auto device = c10::DeviceIndex(taken->device);
    const bool begun = quietly([&] { allocator::endAllocateToPool(device, mempool_id_); });
    const bool begun_host = quietly([&] { host->end_allocate_to_pool(mempool_id_); });
    if (!capture_ended_) { // else reset does it
      if (counted || begun) quietly([&] { allocator::releasePool(device, mempool_id_); });
      if (counted || begun_host) quietly([&] { host->release_pool(mempool_id_); });
    }
    counted = false;
    taken.reset();
  }
};

char *begin(void **graph, int device, void *beside) {
  *graph = nullptr;
  return told([&] {
    at::globalContext().lazyInitDevice(at::kCUDA);
    auto made = std::make_unique<Graph>();
    made->begin(device, static_cast<Graph *>(beside));
    *graph = made.release();
  });
}

char *end(void *graph) {
  auto *g = static_cast<Graph *>(graph);
  char *wrong = told([&] { g->end(); });
  if (wrong) g->abandon();
  return wrong;
}

char *replay(void *graph) {
  return told([&] { static_cast<Graph *>(graph)->replay(); });
}

void release(void *graph) {
  auto *g = static_cast<Graph *>(graph);
  if (!g) return;
  g->abandon();
  quietly([&] { g->reset(); });
  delete g;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const redsi_graphs *redsi_graphs_1(void) {
  static const redsi_graphs table = {begin, end, replay, release};
  return &table;
}
