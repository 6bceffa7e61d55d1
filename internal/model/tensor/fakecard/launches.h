// How many kernels CUDA launches for one operator, by ATen/native/cuda's sources of libtorch 2.11. The rule for lists that are
// put together stands in tools/golden/launches.py, too.
#pragma once
#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace fakecard {

inline bool starts(const std::string &s, const char *with) { return s.rfind(with, 0) == 0; }

// chunks are the kernels of an operator on lists: MultiTensorApply.cuh's bounds on chunks of 65,536 numbers and on tensors of
// one launch, which fall with the number of lists.
inline int64_t chunks(c10::ArrayRef<c10::IValue> in) {
  static const int64_t tensors[] = {110, 64, 48, 36, 30};
  int64_t lists = 0, count = 0, chunks = 0;
  for (const auto &v : in) {
    if (!v.isTensorList()) continue;
    const auto all = v.toTensorVector();
    if (all.empty() || lists++ > 0) continue;
    count = int64_t(all.size());
    for (const at::Tensor &t : all) chunks += (t.numel() + 65535) / 65536;
  }
  const int64_t most = tensors[std::min<int64_t>(std::max<int64_t>(lists, 1), 5) - 1];
  return std::max<int64_t>({1, (count + most - 1) / most, (chunks + 319) / 320});
}

// joins are the kernels that put a list together: Shape.cu takes 128 tensors at a time (CAT_ARRAY_BATCH_SIZE), half of that
// where one is not contiguous, and copies each alone where types differ or there are more than four dimensions.
// NOTE a result of 2^31 numbers and more is copied so too; none here is as large.
inline int64_t joins(c10::ArrayRef<c10::IValue> in) {
  if (in.empty() || !in[0].isTensorList()) return 1;
  const auto all = in[0].toTensorVector();
  bool contiguous = true, alone = false;
  for (const at::Tensor &t : all) {
    contiguous = contiguous && t.is_contiguous();
    alone = alone || t.dim() > 4 || t.scalar_type() != all[0].scalar_type();
  }
  const int64_t n = int64_t(all.size()), at_once = alone ? 1 : contiguous ? 128 : 64;
  return std::max<int64_t>(1, (n + at_once - 1) / at_once);
}

inline int64_t launches(const std::string &name, c10::ArrayRef<c10::IValue> in) {
  if (name == "cat" || name == "_stack" || name == "stack") return joins(in);
  if (!starts(name, "_foreach_") && !starts(name, "_amp_foreach_") && !starts(name, "_fused_ada") && !starts(name, "_fused_sgd"))
    return 1;
  // ForeachReduceOp.cu fills what chunks leave, and puts the chunks of 400 tensors together at a time.
  const int64_t more = name == "_foreach_norm" ? 1 + (int64_t(in[0].toTensorVector().size()) + 399) / 400 : 0;
  return chunks(in) + more;
}

} // namespace fakecard
