//go:build linux

#include "memory.h"
#include "recording.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>

#include <cstring>

namespace fakecard {

void Recording::writes(const c10::Storage &to) {
  const std::lock_guard<std::mutex> hold(lock);
  if (before.count(to.unsafeGetStorageImpl())) return;
  const char *const from = static_cast<char *>(fakecard::memory().host(to.mutable_data_ptr().get()));
  before[to.unsafeGetStorageImpl()] = {to, std::string(from, from + to.nbytes())};
}

void Recording::undo() {
  for (auto &[key, was] : before)
    std::memcpy(fakecard::memory().host(was.first.mutable_data_ptr().get()), was.second.data(), was.second.size());
  before.clear();
}

void Recording::replay() {
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  for (const auto &call : calls) call();
}

namespace {

at::Generator generator() { return at::globalContext().defaultGenerator(c10::Device(c10::kCPU)); }

char *begin(void **graph, int, void *) {
  return guarded([&] {
    auto *made = new Recording;
    *graph = made;
    TORCH_CHECK(!recording(), "a graph is recorded already");
    made->random = generator().get_state();
    current() = made;
  });
}

char *end(void *graph) {
  return guarded([&] {
    auto *made = static_cast<Recording *>(graph);
    TORCH_CHECK(recording() == made, "the graph is not recorded");
    current() = nullptr;
    made->undo();
    generator().set_state(made->random);
  });
}

char *replay(void *graph) {
  return guarded([&] {
    TORCH_CHECK(!recording(), "operation not permitted when stream is capturing");
    static_cast<Recording *>(graph)->replay();
  });
}

void free(void *graph) { delete static_cast<Recording *>(graph); }

} // namespace

const redsi_graphs *graphs() {
  static const redsi_graphs table{begin, end, replay, free};
  return &table;
}

} // namespace fakecard
