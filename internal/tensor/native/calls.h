// What one operator is called with and gives, for tests that hold it against libtorch's own account of what only a
// card can run.
#pragma once
#include "common.h"

#include <ATen/record_function.h>

#include <sstream>
#include <string>

namespace redsi {
namespace watched {

struct Calls {
  std::string prefix;
  std::ostringstream text;
  bool any = false;
  at::CallbackHandle handle{};
};

inline thread_local Calls *calls = nullptr;

inline void list(std::ostream &out, at::IntArrayRef all) {
  out << "[";
  for (size_t i = 0; i < all.size(); i++) out << (i ? "," : "") << all[i];
  out << "]";
}

// put writes a value as JSON. Of a tensor it is shape, strides and type.
inline void put(std::ostream &out, const c10::IValue &v) {
  if (v.isTensor() && v.toTensor().defined()) {
    const Tensor &t = v.toTensor();
    out << "{\"shape\":";
    list(out, t.sizes());
    out << ",\"strides\":";
    list(out, t.strides());
    out << ",\"type\":\"" << c10::toString(t.scalar_type()) << "\"}";
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

inline std::unique_ptr<at::ObserverContext> start(const at::RecordFunction &fn) {
  const std::string name = fn.name();
  if (!calls || name.rfind(calls->prefix, 0) != 0) return nullptr;
  auto call = std::make_unique<Call>();
  std::ostringstream out;
  const auto in = fn.inputs();
  for (size_t i = 0; i < in.size(); i++) out << (i ? "," : ""), put(out, in[i]);
  call->takes = out.str();
  return call;
}

inline void end(const at::RecordFunction &fn, at::ObserverContext *context) {
  if (!calls || !context) return;
  std::ostream &out = calls->text;
  out << (calls->any ? ",\n" : "") << "{\"operator\":\"" << fn.name() << "\",\"takes\":["
      << static_cast<Call *>(context)->takes << "],\"gives\":[";
  calls->any = true;
  const auto &given = fn.outputs();
  for (size_t i = 0; i < given.size(); i++) out << (i ? "," : ""), put(out, given[i]);
  out << "]}";
}

} // namespace watched
} // namespace redsi
