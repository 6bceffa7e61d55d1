//go:build linux

#include "kernels.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <cstring>
#include <mutex>
#include <set>
#include <string>

namespace {

std::mutex mutex;
std::set<std::string> called;
at::CallbackHandle handle;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction &fn) {
  if (const auto name = fn.operator_name()) {
    const std::lock_guard<std::mutex> lock(mutex);
    called.insert(name->overload_name.empty() ? name->name : name->name + "." + name->overload_name);
  }
  return nullptr;
}

at::Tensor same(const at::Tensor &x) { return x; }

} // namespace

extern "C" {

char *redsi_kernels_load(const char *path) {
  if (dlopen(path, RTLD_LAZY | RTLD_GLOBAL)) return nullptr;
  const char *msg = dlerror();
  return strdup(msg ? msg : "the loader does not say why");
}

void redsi_kernels_log_begin(void) {
  called.clear();
  handle = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
}

char *redsi_kernels_log_end(void) {
  at::removeCallback(handle);
  const std::lock_guard<std::mutex> lock(mutex);
  std::string out;
  for (const auto &name : called) out += name + "\n";
  return strdup(out.c_str());
}

char *redsi_kernels_of(const char *name, const char *overload) {
  const auto op = c10::Dispatcher::singleton().findSchema({name, overload});
  if (!op) return strdup("unknown");
  using K = c10::DispatchKey;
  const auto any = [&](std::initializer_list<K> keys) {
    for (const K k : keys)
      if (op->hasKernelForDispatchKey(k)) return true;
    return false;
  };
  std::string out;
  if (any({K::CUDA})) out += " CUDA";
  if (any({K::CPU})) out += " CPU";
  // CompositeExplicitAutogradNonFunctional counts for what fills a result that it is given: of other operators it only
  // makes the result, and calls that one.
  if (any({K::CompositeExplicitAutograd, K::CompositeImplicitAutograd}) ||
      (op->schema().is_mutable() && any({K::CompositeExplicitAutogradNonFunctional})))
    out += " composite";
  if (any({K::Autograd, K::AutogradCUDA, K::CompositeImplicitAutograd})) out += " autograd";
  if (any({K::AutogradCPU})) out += " autograd-CPU";
  return strdup(out.c_str());
}

void redsi_kernels_fakes(void) {
  static torch::Library defs(torch::Library::DEF, "redsi_test", std::nullopt, __FILE__, __LINE__);
  static torch::Library cpu(torch::Library::IMPL, "redsi_test", c10::DispatchKey::CPU, __FILE__, __LINE__);
  static torch::Library cuda(torch::Library::IMPL, "redsi_test", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  static torch::Library autograd(torch::Library::IMPL, "redsi_test", c10::DispatchKey::AutogradCPU, __FILE__, __LINE__);
  static bool done = false;
  if (done) return;
  done = true;
  for (const char *name : {"on_cpu", "no_grad"}) {
    defs.def((std::string(name) + "(Tensor x) -> Tensor").c_str());
    cpu.impl(name, same);
  }
  cuda.impl("no_grad", same);
  autograd.impl("no_grad", same);
}

} // extern "C"
