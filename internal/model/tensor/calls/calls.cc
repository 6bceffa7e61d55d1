// What one operator is called with and gives, for tests that hold it against libtorch's own account of what only a
// card can run.
#include "calls.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <cstring>
#include <sstream>
#include <string>

namespace {

using at::Tensor;

struct Calls {
  std::string prefix;
  std::ostringstream text;
  bool any = false;
  at::CallbackHandle handle{};
};

Calls *calls = nullptr; // one at a time: a card's backward pass has a thread of its own

void list(std::ostream &out, at::IntArrayRef all) {
  out << "[";
  for (size_t i = 0; i < all.size(); i++) out << (i ? "," : "") << all[i];
  out << "]";
}

// put writes a value as JSON. Of a tensor it is shape, strides and type.
void put(std::ostream &out, const c10::IValue &v) {
  if (v.isTensor() && v.toTensor().defined()) {
    const Tensor &t = v.toTensor();
    out << "{\"shape\":";
    list(out, t.sizes());
    out << ",\"strides\":";
    list(out, t.strides());
    out << ",\"type\":\"" << c10::toString(t.scalar_type()) << "\"}";
  } else if (v.isList()) {
    out << "[";
    const auto all = v.toListRef();
    for (size_t i = 0; i < all.size(); i++) out << (i ? "," : ""), put(out, all[i]);
    out << "]";
  } else if (v.isBool()) {
    out << (v.toBool() ? "true" : "false");
  } else if (v.isInt()) {
    out << v.toInt();
  } else if (v.isSymInt()) {
    out << v.toSymInt().expect_int();
  } else if (v.isDouble()) {
    out << v.toDouble();
  } else {
    out << "null";
  }
}

// Call is one that has begun: its operands are gone when it ends.
struct Call : at::ObserverContext {
  std::string takes;
};

std::unique_ptr<at::ObserverContext> start(const at::RecordFunction &fn) {
  const std::string name = fn.name();
  if (!calls || name.rfind(calls->prefix, 0) != 0) return nullptr;
  auto call = std::make_unique<Call>();
  std::ostringstream out;
  const auto in = fn.inputs();
  for (size_t i = 0; i < in.size(); i++) out << (i ? "," : ""), put(out, in[i]);
  call->takes = out.str();
  return call;
}

void end(const at::RecordFunction &fn, at::ObserverContext *context) {
  if (!calls || !context) return;
  std::ostream &out = calls->text;
  out << (calls->any ? ",\n" : "") << "{\"operator\":\"" << fn.name() << "\",\"takes\":["
      << static_cast<Call *>(context)->takes << "],\"gives\":[";
  calls->any = true;
  const auto &given = fn.outputs();
  for (size_t i = 0; i < given.size(); i++) out << (i ? "," : ""), put(out, given[i]);
  out << "]}";
}

} // namespace

extern "C" {

void *redsi_calls_begin(const char *prefix) {
  auto *c = new Calls;
  c->prefix = prefix;
  calls = c;
  c->handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(start, end).needsInputs(true).needsOutputs(true).scopes({at::RecordScope::FUNCTION}));
  return c;
}

char *redsi_calls_end(void *calls_) {
  auto *c = static_cast<Calls *>(calls_);
  at::removeCallback(c->handle);
  calls = nullptr;
  const std::string text = "[" + c->text.str() + "]";
  delete c;
  return strdup(text.c_str());
}

} // extern "C"
