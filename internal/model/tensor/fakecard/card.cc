//go:build linux

// A card of software under libtorch's dispatch key of CUDA: see doc.go.
#include "card.h"
#include "launches.h"
#include "memory.h"
#include "recording.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <ATen/record_function.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <map>
#include <set>

namespace fakecard {

using at::Tensor;
using c10::IValue;
using torch::jit::Stack;

const c10::Device kCard(c10::DeviceType::CUDA, 0);

struct Counter {
  std::mutex lock;
  redsi_fakecard_counts counts{};
  std::map<std::string, int64_t> operators;
  void ran(const std::string &name, int64_t launches) {
    const std::lock_guard<std::mutex> hold(lock);
    operators[name] += launches;
  }
  template <typename F> void note(F f) {
    const std::lock_guard<std::mutex> hold(lock);
    f(counts);
  }
};
Counter &counter() {
  static auto *c = new Counter;
  return *c;
}

// Within says that a thread is in an operator that is counted as one: what it is composed of is not counted.
struct Within {
  static inline thread_local int depth = 0;
  Within() { depth++; }
  ~Within() { depth--; }
};

// ran counts an operator.
void ran(const std::string &name, c10::ArrayRef<IValue> arguments) {
  if (Within::depth == 0) counter().ran(name, launches(name, arguments));
}

// Late are copies from the card that nobody has waited for yet.
struct Late {
  std::mutex lock;
  std::vector<std::pair<Tensor, Tensor>> copies; // to, from: both as the host sees them
  void arrive() {
    const std::lock_guard<std::mutex> hold(lock);
    for (auto &[to, from] : copies) to.copy_(from);
    copies.clear();
  }
};
Late &late() {
  static auto *l = new Late;
  return *l;
}
void wait() {
  TORCH_CHECK(!recording(), "operation not permitted when stream is capturing");
  late().arrive();
  counter().note([](auto &c) { c.waits++; });
}

// Host makes the host's view of tensors of the card, for one call: tensors that share memory share it there too.
struct Host {
  std::map<c10::StorageImpl *, c10::Storage> storages;

  Tensor of(const Tensor &t) {
    auto *const key = t.storage().unsafeGetStorageImpl();
    auto at = storages.find(key);
    if (at == storages.end()) {
      void *const p = memory().host(t.storage().mutable_data_ptr().get());
      c10::Storage s(c10::Storage::use_byte_size_t(), t.storage().nbytes(), c10::DataPtr(p, c10::Device(c10::kCPU)),
                     c10::GetAllocator(c10::kCPU), true);
      at = storages.emplace(key, std::move(s)).first;
    }
    Tensor out = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(at->second),
                                                          c10::DispatchKeySet(c10::DispatchKey::CPU), t.dtype());
    out.unsafeGetTensorImpl()->set_sizes_and_strides(t.sizes(), t.strides(), t.storage_offset());
    return out;
  }
  // kept is the card's memory that a call reads and writes.
  std::vector<c10::Storage> kept(const Stack &results, size_t first, const std::vector<std::pair<Tensor, Tensor>> &changed) const {
    std::vector<c10::Storage> all;
    for (const auto &[key, s] : storages)
      all.emplace_back(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(key));
    for (size_t i = first; i < results.size(); i++)
      if (results[i].isTensor() && results[i].toTensor().defined()) all.push_back(results[i].toTensor().storage());
    for (const auto &[card, view] : changed) all.push_back(card.storage());
    return all;
  }
  bool owns(const Tensor &t) const {
    for (const auto &[key, s] : storages)
      if (s.unsafeGetStorageImpl() == t.storage().unsafeGetStorageImpl()) return true;
    return false;
  }
};

Tensor empty_card(c10::IntArrayRef size, c10::ScalarType dtype, std::optional<c10::MemoryFormat> format = {}) {
  return at::detail::empty_generic(size, &memory(), c10::DispatchKeySet(c10::DispatchKey::CUDA), dtype, format);
}

// upload is a tensor of the card with the host tensor's elements and strides; tensors that share memory share it there too.
using Uploaded = std::map<c10::StorageImpl *, c10::Storage>;
Tensor upload(const Tensor &t, Uploaded &done) {
  auto *const key = t.storage().unsafeGetStorageImpl();
  auto at = done.find(key);
  if (at == done.end()) {
    const size_t bytes = t.storage().nbytes();
    c10::Storage s(c10::Storage::use_byte_size_t(), bytes, memory().allocate(bytes), &memory(), true);
    if (bytes > 0) std::memcpy(memory().host(s.mutable_data_ptr().get()), t.storage().data_ptr().get(), bytes);
    at = done.emplace(key, std::move(s)).first;
  }
  Tensor out = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(at->second), c10::DispatchKeySet(c10::DispatchKey::CUDA), t.dtype());
  out.unsafeGetTensorImpl()->set_sizes_and_strides(t.sizes(), t.strides(), t.storage_offset());
  return out;
}

// Operators whose kernels on a card are libtorch's element-wise ones, which take a CPU tensor of no dimension as a number.
const std::set<std::string> &takes_numbers() {
  static const auto *s = new std::set<std::string>{
      "add", "add_", "sub", "sub_", "mul", "mul_", "div", "div_", "where", "lt", "le", "gt", "ge", "eq", "ne",
      "maximum", "minimum", "pow", "lerp", "lerp_", "rsub", "bitwise_and", "bitwise_or", "remainder", "masked_fill", "masked_fill_"};
  return *s;
}

std::string short_name(const c10::OperatorHandle &op) {
  const std::string &name = op.schema().name();
  return name.substr(name.find("::") + 2);
}

// on_host computes by the CPU's kernel. A card's softmax of half precision can give float32, the CPU's can not.
void on_host(const c10::OperatorHandle &op, Stack *stack) {
  const std::string name = short_name(op);
  const size_t first = stack->size() - op.schema().arguments().size();
  if ((name == "_softmax" || name == "_log_softmax") && (*stack)[first + 2].toBool()) {
    (*stack)[first] = (*stack)[first].toTensor().to(at::kFloat);
    (*stack)[first + 2] = false;
  }
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
}

// Call is one operator on the card.
struct Call {
  const c10::OperatorHandle &op;
  const c10::FunctionSchema &schema;
  Stack *stack;
  const size_t first; // of the arguments in the stack
  Host host;
  Uploaded uploaded;
  std::vector<std::pair<Tensor, Tensor>> changed; // of the card, as the host sees it: those that are written

  Call(const c10::OperatorHandle &o, Stack *s)
      : op(o), schema(o.schema()), stack(s), first(s->size() - o.schema().arguments().size()) {}

  Tensor argument(const Tensor &t, const c10::Argument &a) {
    if (!t.defined()) return t;
    if (t.device() == kCard) {
      Tensor view = host.of(t);
      if (a.alias_info() && a.alias_info()->isWrite()) changed.emplace_back(t, view);
      return view;
    }
    const bool number = t.is_cpu() && t.dim() == 0 &&
                        (t.unsafeGetTensorImpl()->is_wrapped_number() || takes_numbers().count(short_name(op)));
    TORCH_CHECK(number, schema.name(), ": argument ", a.name(), " is on ", t.device(), " and others are on ", kCard,
                "; a card refuses to mix them");
    return t;
  }

  void arguments() {
    for (size_t i = 0; i < schema.arguments().size(); i++) {
      IValue &v = (*stack)[first + i];
      const c10::Argument &a = schema.arguments()[i];
      if (v.isTensor()) {
        v = argument(v.toTensor(), a);
      } else if (v.isTensorList()) {
        c10::List<Tensor> out;
        for (const Tensor &t : v.toTensorVector()) out.push_back(argument(t, a));
        v = out;
      } else if (v.isOptionalTensorList()) {
        c10::List<std::optional<Tensor>> out;
        for (const std::optional<Tensor> t : v.toOptionalTensorList())
          out.push_back(t ? std::optional<Tensor>(argument(*t, a)) : std::nullopt);
        v = out;
      } else if (v.isDevice() && v.toDevice().is_cuda()) {
        v = c10::Device(c10::kCPU);
      } else if (v.isGenerator()) {
        v = IValue();
      }
    }
  }

  // A result that was allocated is brought to the card; one that is an argument which was written is that argument.
  Tensor result(const Tensor &t) {
    if (!t.defined()) return t;
    for (auto &[card, view] : changed)
      if (view.is_same(t)) return card;
    TORCH_CHECK(!host.owns(t), schema.name(), ": a view that the card of software does not know");
    return upload(t, uploaded);
  }

  void results() {
    // What an operator resized has other memory now.
    for (auto &[card, view] : changed) {
      if (memory().host(card.storage().mutable_data_ptr().get()) != view.storage().data_ptr().get()) {
        const Tensor fresh = upload(view, uploaded);
        card.unsafeGetTensorImpl()->set_storage_keep_dtype(fresh.storage());
      }
      if (card.sizes() != view.sizes() || card.strides() != view.strides())
        card.unsafeGetTensorImpl()->set_sizes_and_strides(view.sizes(), view.strides(), view.storage_offset());
    }
    for (size_t i = 0; i < schema.returns().size(); i++) {
      IValue &v = (*stack)[first + i];
      if (v.isTensor()) {
        v = result(v.toTensor());
      } else if (v.isTensorList()) {
        c10::List<Tensor> out;
        for (const Tensor &t : v.toTensorVector()) out.push_back(result(t));
        v = out;
      }
    }
  }

  // run computes. What it did while the card was recorded is undone in the end, and done again with what is there then.
  void run(Recording *into) {
    if (!into) {
      on_host(op, stack);
      results();
      return;
    }
    for (auto &[card, view] : changed) into->writes(card.storage());
    const Stack arguments = copied(Stack(stack->begin() + ptrdiff_t(first), stack->end()));
    on_host(op, stack);
    results();
    std::vector<std::pair<Tensor, size_t>> made; // of the card as the host sees it, of which result
    for (size_t i = 0; i < schema.returns().size(); i++) {
      const IValue &v = (*stack)[first + i];
      if (v.isTensor() && v.toTensor().defined() && !written(v.toTensor())) made.emplace_back(host.of(v.toTensor()), i);
      TORCH_CHECK(!v.isTensorList() || schema.returns()[i].alias_info() || v.toTensorVector().empty(), schema.name(),
                  ": the card of software does not record a list of results");
    }
    std::vector<std::pair<Tensor, Tensor>> moved; // what has other memory now, and where it was computed
    for (auto &[card, view] : changed)
      if (memory().host(card.storage().mutable_data_ptr().get()) != view.storage().data_ptr().get())
        moved.emplace_back(Host().of(card), view);
    into->add(host.kept(*stack, first, changed), [op = this->op, arguments, made, moved] {
      Stack again = copied(arguments);
      on_host(op, &again);
      for (const auto &[to, i] : made) Tensor(to).copy_(again[i].toTensor());
      for (const auto &[to, from] : moved) Tensor(to).copy_(from);
    });
  }

  bool written(const Tensor &t) const {
    for (auto &[card, view] : changed)
      if (card.is_same(t)) return true;
    return false;
  }
};

bool waits(const std::string &name) {
  return name == "_local_scalar_dense" || name == "nonzero" || name == "equal" || name == "masked_select" ||
         name == "_unique2" || name == "unique_dim" || name == "unique_consecutive";
}

// kernel is every operator that has no function of its own below.
void kernel(const c10::OperatorHandle &op, Stack *stack) {
  Call call(op, stack);
  TORCH_CHECK(op.hasKernelForDispatchKey(c10::DispatchKey::CPU) ||
                  op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd),
              call.schema.name(), ".", call.schema.overload_name(), ": the card of software has no kernel for it");
  if (waits(short_name(op)))
    wait();
  else
    ran(short_name(op), c10::ArrayRef<IValue>(stack->data() + call.first, stack->size() - call.first));
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  call.arguments();
  call.run(recording());
}

// composed is an operator that CUDA has a kernel for, and the CPU composes of others.
void composed(const c10::OperatorHandle &op, Stack *stack) {
  const size_t n = op.schema().arguments().size();
  ran(short_name(op), c10::ArrayRef<IValue>(stack->data() + stack->size() - n, n));
  const at::DisableRecordFunctionGuard unseen;
  const Within one;
  op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
}

int64_t bytes_of(const Tensor &t) { return t.numel() * int64_t(t.element_size()); }

Tensor &copy(Tensor &to, const Tensor &from, bool non_blocking) {
  if (to.is_same(from) || to.numel() == 0) return to;
  Host host;
  const bool to_card = to.device() == kCard, from_card = from.device() == kCard;
  const Tensor a = to_card ? host.of(to) : to.detach(), b = (from_card ? host.of(from) : from).detach();
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  TORCH_CHECK(!recording() || (to_card && from_card), "operation not permitted when stream is capturing");
  if (to_card && from_card) {
    ran("copy_", {});
    if (Recording *into = recording()) {
      into->writes(to.storage());
      into->add({to.storage(), from.storage()}, [a, b] { Tensor(a).copy_(b); });
    }
    a.copy_(b);
  } else if (to_card) {
    counter().note([&](auto &c) { c.uploads++, c.upload_bytes += bytes_of(from); });
    a.copy_(b);
    if (!non_blocking || !from.is_pinned()) late().arrive();
  } else {
    counter().note([&](auto &c) { c.downloads++, c.download_bytes += bytes_of(from); });
    if (non_blocking && to.is_pinned()) {
      a.fill_(a.is_floating_point() ? NAN : -1);
      const std::lock_guard<std::mutex> hold(late().lock);
      late().copies.emplace_back(a, b.clone()); // on a card it has the elements of now, too: the stream is in order
    } else {
      a.copy_(b);
      late().arrive();
    }
  }
  return to;
}

Tensor empty_format(c10::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                    std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  return empty_card(size, c10::dtype_or_default(dtype), format);
}
Tensor empty_strides(c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &memory(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(dtype));
}

// A card's softmax takes half precision and gives float32; so does its gradient, which the CPU's does not.
template <typename F> Tensor &softmax_gradient(const char *name, F f, const Tensor &grad, const Tensor &output, Tensor &out) {
  for (const Tensor *t : {&output, static_cast<const Tensor *>(&out)})
    TORCH_CHECK(t->device() == grad.device(), name, ": operands on ", t->device(), " and ", grad.device());
  ran(name, {});
  const at::AutoDispatchBelowADInplaceOrView below;
  const at::DisableRecordFunctionGuard unseen;
  Host host;
  const Tensor g = host.of(grad), y = host.of(output), to = host.of(out);
  const auto compute = [f, g, y, to] { Tensor(to).copy_(f(g, y, g.scalar_type())); };
  if (Recording *into = recording()) {
    into->writes(out.storage());
    into->add({grad.storage(), output.storage(), out.storage()}, compute);
  }
  compute();
  return out;
}
Tensor &log_softmax_backward(const Tensor &grad, const Tensor &output, int64_t dim, at::ScalarType, Tensor &out) {
  const auto f = [dim](const Tensor &g, const Tensor &y, at::ScalarType t) { return at::_log_softmax_backward_data(g, y, dim, t); };
  return softmax_gradient("_log_softmax_backward_data", f, grad, output, out);
}
Tensor &softmax_backward(const Tensor &grad, const Tensor &output, int64_t dim, at::ScalarType, Tensor &out) {
  const auto f = [dim](const Tensor &g, const Tensor &y, at::ScalarType t) { return at::_softmax_backward_data(g, y, dim, t); };
  return softmax_gradient("_softmax_backward_data", f, grad, output, out);
}

// The choice that libtorch leaves to a device's library: the memory-efficient kernel of attention, where this process has
// one that can stand in for it, else products and softmax.
int64_t sdp_choice(const Tensor &q, const Tensor &, const Tensor &, const std::optional<Tensor> &, double, bool,
                   std::optional<double>, bool) {
  const auto op = c10::Dispatcher::singleton().findSchema({"aten::_efficient_attention_forward", ""});
  const bool fits = q.dim() == 4 && q.size(3) % 8 == 0;
  return int64_t(fits && op && op->hasKernelForDispatchKey(c10::DispatchKey::CPU) ? at::SDPBackend::efficient_attention
                                                                                  : at::SDPBackend::math);
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return kCard; }
  c10::Device getDevice() const override { return kCard; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream stream() const { return c10::Stream(c10::Stream::DEFAULT, kCard); }
  c10::Stream getStream(c10::Device) const override { return stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream) const override { return stream(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void record(void **, const c10::Stream &, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void *, const c10::Stream &) const override {}
  bool queryEvent(void *) const override { return true; }
  bool queryStream(const c10::Stream &) const override { return true; }
  void synchronizeStream(const c10::Stream &) const override { wait(); }
  void synchronizeEvent(void *) const override { wait(); }
  void synchronizeDevice(const c10::DeviceIndex) const override { wait(); }
};

// Generator draws what the CPU's does; only its device differs.
struct Generator final : at::CPUGeneratorImpl {
  Generator() { device_ = kCard, key_set_ = c10::DispatchKeySet(c10::DispatchKey::CUDA); }
  // Kernels are the CPU's, and draw from its generator.
  static at::Generator cpu() { return at::globalContext().defaultGenerator(c10::Device(c10::kCPU)); }
  void set_current_seed(uint64_t seed) override {
    TORCH_CHECK(!recording(), "Cannot call CUDAGeneratorImpl::set_current_seed during CUDA graph capture");
    at::CPUGeneratorImpl::set_current_seed(seed);
    auto draws = cpu();
    const std::lock_guard<std::mutex> hold(draws.mutex());
    draws.set_current_seed(seed);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return cpu().get_state().getIntrusivePtr(); }
  void set_state(const c10::TensorImpl &state) override {
    TORCH_CHECK(!recording(), "Cannot call CUDAGeneratorImpl::set_state during CUDA graph capture");
    const_cast<at::GeneratorImpl *>(cpu().unsafeGetGeneratorImpl())->set_state(state);
  }
};

struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  void init() const override {}
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  bool isPinnedPtr(const void *p) const override { return pinned().owns(p); }
  c10::Allocator *getPinnedMemoryAllocator() const override { return &pinned(); }
  c10::Allocator *getCUDADeviceAllocator() const override { return &memory(); }
  c10::Device getDeviceFromPtr(void *) const override { return kCard; }
  const at::Generator &getDefaultGenerator(c10::DeviceIndex) const override {
    static const auto *g = new at::Generator(at::make_generator<Generator>());
    return *g;
  }
  void deviceSynchronize(c10::DeviceIndex) const override { wait(); }
};

void install() {
  at::CUDAHooksRegistry()->Register(
      "CUDAHooks", [](at::CUDAHooksArgs args) -> std::unique_ptr<at::CUDAHooksInterface> { return std::make_unique<Hooks>(args); });
  TORCH_CHECK(at::detail::getCUDAHooks().hasCUDA(), "libtorch was asked for its cards before the card of software was made");
  c10::SetAllocator(c10::DeviceType::CUDA, &memory());
  static const auto *guard = new Guard;
  c10::impl::registerDeviceGuard(c10::DeviceType::CUDA, guard);
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&sdp_choice);
  static auto *aten = new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  aten->impl("empty.memory_format", empty_format);
  aten->impl("empty_strided", empty_strides);
  aten->impl("as_strided", at::native::as_strided_tensorimpl);
  aten->impl("view", static_cast<Tensor (*)(const Tensor &, c10::IntArrayRef)>(at::native::view));
  aten->impl("_reshape_alias", at::native::_reshape_alias);
  aten->impl("unfold", at::native::unfold);
  aten->impl("copy_", copy);
  aten->impl("_fused_sdp_choice", sdp_choice);
  aten->impl("_log_softmax_backward_data.out", log_softmax_backward);
  aten->impl("_softmax_backward_data.out", softmax_backward);
  for (const c10::OperatorName &name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto op = c10::Dispatcher::singleton().findOp(name);
    if (!op || !starts(name.name, "aten::") || name.name.find("softmax_backward_data") != std::string::npos) continue;
    const bool computes = op->hasKernelForDispatchKey(c10::DispatchKey::CPU);
    // A card has these as a CPU has them; otherwise libtorch would make add_ of add.out.
    if (computes && (op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional) ||
                     starts(name.name, "aten::native_layer_norm")))
      aten->impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&kernel>());
    if (!computes && (starts(name.name, "aten::_foreach_") || name.name == "aten::_fused_rms_norm"))
      aten->impl(c10::toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&composed>());
  }
  static auto *rest = new torch::Library(torch::Library::IMPL, "_", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  rest->fallback(torch::CppFunction::makeFromBoxedFunction<&kernel>());
}

} // namespace fakecard

extern "C" {

static bool installed;

const redsi_graphs *redsi_graphs_1(void) { return installed ? fakecard::graphs() : nullptr; }

char *redsi_fakecard_install(void) {
  return fakecard::guarded([] {
    fakecard::install();
    installed = true;
  });
}

char *redsi_fakecard_take(redsi_fakecard_counts *counts) {
  auto &c = fakecard::counter();
  const std::lock_guard<std::mutex> hold(c.lock);
  *counts = c.counts;
  counts->peak = fakecard::memory().peak();
  c.counts = {};
  std::string text;
  for (const auto &[name, n] : c.operators) text += name + " " + std::to_string(n) + "\n";
  c.operators.clear();
  return strdup(text.c_str());
}

} // extern "C"
