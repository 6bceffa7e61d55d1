// What a card would be asked for: operators are watched as libtorch's dispatcher calls them.
//
// A launch is an operator with a kernel of its own for the CPU, whatever that kernel calls, or one that
// calls no other; but for views, allocations and what waits. What CUDA has one kernel for where a CPU's
// fallback calls many operators counts as what CUDA launches. The same rule stands in
// tools/golden/launches.py.
#include "common.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

namespace redsi {
namespace {

// none launches nothing, whatever it is given.
const std::set<std::string> none = {
    "_pin_memory", "_reshape_alias", "_unsafe_view", "adjoint", "alias", "as_strided", "as_strided_", "can_cast",
    "chunk", "contiguous", "detach", "detach_", "diagonal", "empty", "empty_like", "empty_strided", "expand",
    "expand_as", "flatten", "is_pinned", "is_same_size", "lift_fresh", "mT", "matrix_H", "movedim", "narrow",
    "new_empty", "new_empty_strided", "numpy_T", "permute", "pin_memory", "promote_types", "requires_grad_",
    "reshape", "resize_", "resolve_conj", "resolve_neg", "result_type", "retain_grad", "select", "set_", "set_data",
    "slice", "split", "split_with_sizes", "squeeze", "squeeze_", "t", "t_", "tensor_split", "to", "transpose",
    "transpose_", "type_as", "unbind", "unflatten", "unfold", "unsqueeze", "unsqueeze_", "view", "view_as"};

// waits stops until the card is done. Others among them (item) come to one of these.
const std::set<std::string> waits = {"_local_scalar_dense", "nonzero", "equal", "unique_dim", "_unique2",
                                     "unique_consecutive", "bincount", "_nested_tensor_from_mask"};

// fused is one kernel on CUDA, and composed of others here.
const std::set<std::string> fused = {"dropout", "rms_norm", "_fused_rms_norm", "_fused_rms_norm_backward"};

// gathering reads no more of its first operand than it writes.
const std::set<std::string> gathering = {"index_select", "embedding", "gather", "index"};

bool starts(const std::string &s, const char *with) { return s.rfind(with, 0) == 0; }
bool many(const std::string &name) {
  return starts(name, "_foreach_") || starts(name, "_amp_foreach_") || starts(name, "_fused_ada") ||
         starts(name, "_fused_sgd");
}

// has_kernel: the CPU has a kernel of the operator, which is not composed for every device.
bool has_kernel(const at::RecordFunction &fn) {
  static thread_local std::map<std::string, bool> known;
  const auto name = fn.operator_name();
  if (!name) return false;
  const auto [it, fresh] = known.try_emplace(name->name + "." + name->overload_name, false);
  if (fresh)
    if (const auto op = c10::Dispatcher::singleton().findOp(*name)) it->second = op->hasKernelForDispatchKey(c10::DispatchKey::CPU);
  return it->second;
}

struct Frame : at::ObserverContext {
  std::string name;
  int64_t calls = 0; // operators that it called
  int64_t flops = 0, bytes = 0, own = 1;
  bool ours = false, gathers = false, covers = false; // covers: what it calls does not count
};

struct Memory : c10::MemoryReportingInfoBase {
  int64_t now = 0, most = 0;
  std::map<void *, int64_t> blocks; // those of this time: others' ends do not count
  void reportMemoryUsage(void *at, int64_t size, size_t, size_t, c10::Device) override {
    if (size > 0) {
      blocks[at] = size;
      now += size;
      most = std::max(most, now);
    } else if (const auto it = blocks.find(at); it != blocks.end()) {
      now -= it->second;
      blocks.erase(it);
    }
  }
  bool memoryProfilingEnabled() const override { return true; }
};

struct Counter {
  std::map<std::string, int64_t> launches, syncs;
  int64_t flops = 0, bytes = 0;
  int covered = 0;
  std::vector<Frame *> open;
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
  std::unique_ptr<c10::DebugInfoGuard> guard;
  at::CallbackHandle handle{};
};

thread_local Counter *counter = nullptr;

int64_t size_of(const Tensor &t) { return t.defined() ? t.numel() * int64_t(t.element_size()) : 0; }

int64_t size_of(const c10::IValue &v) {
  int64_t sum = 0;
  if (v.isTensor()) return size_of(v.toTensor());
  if (v.isTensorList())
    for (const Tensor &t : v.toTensorVector()) sum += size_of(t);
  return sum;
}

// kernels of one multi-tensor operator: ATen/native/cuda/MultiTensorApply.cuh's bounds on chunks of 65,536
// numbers and on tensors of one launch, which fall with the number of lists.
int64_t kernels(c10::ArrayRef<const c10::IValue> in) {
  static const int64_t tensors[] = {110, 64, 48, 36, 30};
  int64_t lists = 0, count = 0, chunks = 0;
  for (const auto &v : in) {
    if (!v.isTensorList()) continue;
    const auto all = v.toTensorVector();
    if (all.empty() || lists++ > 0) continue;
    count = int64_t(all.size());
    for (const Tensor &t : all) chunks += (t.numel() + 65535) / 65536;
  }
  const int64_t most = tensors[std::min<int64_t>(std::max<int64_t>(lists, 1), 5) - 1];
  return std::max<int64_t>({1, (count + most - 1) / most, (chunks + 319) / 320});
}

// second are CUDA's kernels of an operator beside those of the multi-tensor rule. By ATen/native/cuda's sources of
// libtorch 2.11: ForeachReduceOp.cu fills what chunks leave, and puts the chunks of 400 tensors together at a time.
int64_t second(const std::string &name, c10::ArrayRef<const c10::IValue> in) {
  if (name != "_foreach_norm" || in.empty() || !in[0].isTensorList()) return 0;
  return 1 + (int64_t(in[0].toTensorVector().size()) + 399) / 400;
}

// joining puts a list of tensors into one.
const std::set<std::string> joining = {"cat", "_stack", "stack"};

// cuts are the kernels of such a one. ATen/native/cuda/Shape.cu takes 128 tensors at a time (CAT_ARRAY_BATCH_SIZE),
// half of that where one is not contiguous, and copies each alone where types differ or there are more than four
// dimensions.
// NOTE a result of 2^31 numbers and more is copied so too; none here is as large.
int64_t cuts(c10::ArrayRef<const c10::IValue> in) {
  if (in.empty() || !in[0].isTensorList()) return 1;
  const auto all = in[0].toTensorVector();
  bool contiguous = true, alone = false;
  for (const Tensor &t : all) {
    contiguous = contiguous && t.is_contiguous();
    alone = alone || t.dim() > 4 || t.scalar_type() != all[0].scalar_type();
  }
  const int64_t n = int64_t(all.size()), at_once = alone ? 1 : contiguous ? 128 : 64;
  return std::max<int64_t>(1, (n + at_once - 1) / at_once);
}

int64_t product(const Tensor &a, const Tensor &b) { return 2 * a.numel() * b.size(-1); }

int64_t flops_of(const std::string &name, c10::ArrayRef<const c10::IValue> in) {
  const auto at = [&](size_t i) { return in[i].toTensor(); };
  if ((name == "mm" || name == "bmm") && in.size() >= 2) return product(at(0), at(1));
  if ((name == "addmm" || name == "baddbmm") && in.size() >= 3) return product(at(1), at(2));
  if (name == "linear" && in.size() >= 2) return 2 * at(0).numel() * at(1).size(0);
  return 0;
}

std::unique_ptr<at::ObserverContext> start(const at::RecordFunction &fn) {
  auto frame = std::make_unique<Frame>();
  if (!counter) return frame;
  frame->name = fn.name();
  counter->open.push_back(frame.get());
  frame->ours = starts(frame->name, "aten::"); // not autograd's nodes
  if (!frame->ours) return frame;
  frame->name = frame->name.substr(6);
  const auto in = fn.inputs();
  frame->covers = (has_kernel(fn) || many(frame->name) || fused.count(frame->name)) && none.count(frame->name) == 0;
  if (counter->covered == 0) {
    frame->flops = flops_of(frame->name, in);
    frame->gathers = gathering.count(frame->name);
    if (!frame->gathers)
      for (const auto &v : in) frame->bytes += size_of(v);
    if (many(frame->name)) frame->own = kernels(in) + second(frame->name, in);
    if (joining.count(frame->name)) frame->own = cuts(in);
  }
  if (frame->covers) counter->covered++;
  return frame;
}

void end(const at::RecordFunction &fn, at::ObserverContext *context) {
  auto *frame = static_cast<Frame *>(context);
  if (!counter || counter->open.empty() || counter->open.back() != frame) return;
  counter->open.pop_back();
  if (!frame->ours) return;
  if (frame->covers) counter->covered--;
  if (!counter->open.empty()) counter->open.back()->calls++;
  const bool finds = frame->name == "nonzero"; // a CUDA kernel that takes a mask needs it too
  if (counter->covered > 0 && !finds) return;
  if (waits.count(frame->name)) {
    counter->syncs[frame->name]++;
  } else if (frame->covers || (frame->calls == 0 && none.count(frame->name) == 0)) {
    for (const auto &v : fn.outputs()) frame->bytes += (frame->gathers ? 2 : 1) * size_of(v);
    counter->launches[frame->name] += frame->own;
    counter->flops += frame->flops;
    counter->bytes += frame->bytes;
  }
}

} // namespace
} // namespace redsi

using namespace redsi;

extern "C" {

void *redsi_count_begin(void) {
  auto *c = new Counter;
  c->guard = std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE, c->memory);
  counter = c;
  c->handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
  return c;
}

char *redsi_count_end(void *counter_) {
  auto *c = static_cast<Counter *>(counter_);
  at::removeCallback(c->handle);
  counter = nullptr;
  c->guard.reset();
  std::ostringstream out;
  for (const auto &[name, n] : c->launches) out << "launch " << name << " " << n << "\n";
  for (const auto &[name, n] : c->syncs) out << "sync " << name << " " << n << "\n";
  out << "total flops " << c->flops << "\ntotal bytes " << c->bytes << "\ntotal peak " << c->memory->most << "\n";
  delete c;
  return strdup(out.str().c_str());
}

} // extern "C"
