// Graphs of the card of software: what happens on the card while one is recorded is undone in the end, and then done again
// with what is in the same memory. What CUDA refuses meanwhile is refused: transfers, waits, seeds.
#pragma once
#include "../cudagraph/table.h"

#include <ATen/ATen.h>
#include <ATen/core/stack.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace fakecard {

// Recording is what was asked of the card, whichever thread asked: the first of it is done first.
class Recording {
  std::mutex lock;
  std::vector<std::vector<c10::Storage>> memory; // that stays where it is
  std::vector<std::function<void()>> calls;
  std::map<c10::StorageImpl *, std::pair<c10::Storage, std::string>> before; // what was written to, as it was

public:
  at::Tensor random; // the generator as it was before

  void add(std::vector<c10::Storage> of, std::function<void()> call) {
    const std::lock_guard<std::mutex> hold(lock);
    memory.push_back(std::move(of));
    calls.push_back(std::move(call));
  }
  // writes comes before what is in a tensor's memory changes.
  void writes(const c10::Storage &to);
  void undo();
  void replay();
};

// recording is what is recorded now, if anything is.
inline std::atomic<Recording *> &current() {
  static std::atomic<Recording *> r{nullptr};
  return r;
}
inline Recording *recording() { return current().load(); }

const redsi_graphs *graphs();

// guarded is what f throws, to be freed; NULL is nothing.
template <typename F> char *guarded(F f) {
  try {
    f();
    return nullptr;
  } catch (const std::exception &e) {
    return strdup(e.what());
  }
}

// copied is a call's arguments with lists of their own; numbers that are tensors of the host are as they are now.
inline torch::jit::Stack copied(torch::jit::Stack arguments) {
  for (c10::IValue &v : arguments) {
    if (v.isTensor() && v.toTensor().defined() && v.toTensor().unsafeGetTensorImpl()->is_wrapped_number()) {
      const at::Tensor number = v.toTensor().clone();
      number.unsafeGetTensorImpl()->set_wrapped_number(true);
      v = number;
    } else if (v.isTensorList()) {
      v = v.toTensorList().copy();
    } else if (v.isOptionalTensorList()) {
      v = v.toOptionalTensorList().copy();
    }
  }
  return arguments;
}

} // namespace fakecard
