// Lets gotch v0.9.1, which was generated for libtorch 2.1, compile against libtorch 2.11 and later.
//
// By 2.11, three operators had other argument lists; by 2.14, six functions were gone. gotch's generated code still calls
// the old ones, so they are declared here as overloads; the compiler's -include option puts this file in front of
// gotch's sources. redsi calls none of them. Who does gets an error, not a wrong result.
//
// A file that is not gotch's defines REDSI_NATIVE: reading all of libtorch takes the compiler 17 s.
#pragma once
#if defined(__cplusplus) && !defined(REDSI_NATIVE)

#include <optional>
#include <tuple>

#include <torch/torch.h>
#include <torch/version.h>

namespace redsi_gotch {
[[noreturn]] inline void changed_operator(const char *name) {
  TORCH_CHECK(false, name, " is another operator in libtorch " TORCH_VERSION ", or none, than in gotch v0.9.1, which was built for 2.1");
}
} // namespace redsi_gotch

namespace torch {

// 2.11 takes (compressed_A, dense_B, bias, alpha, out_dtype, transpose_result, ...).
inline at::Tensor _cslt_sparse_mm(const at::Tensor & /*compressed_a*/, const at::Tensor & /*dense_b*/,
                                  const at::Tensor & /*bias*/, bool /*transpose_result*/) {
  redsi_gotch::changed_operator("_cslt_sparse_mm");
}

// 2.11 returns one tensor and takes the two scales, no longer optional, right after the operands.
inline std::tuple<at::Tensor, at::Tensor>
_scaled_mm(const at::Tensor & /*self*/, const at::Tensor & /*mat2*/, const at::Tensor & /*bias*/,
           std::optional<at::ScalarType> /*out_dtype*/, const at::Tensor & /*scale_a*/,
           const at::Tensor & /*scale_b*/, const at::Tensor & /*scale_result*/) {
  redsi_gotch::changed_operator("_scaled_mm");
}

inline std::tuple<at::Tensor, at::Tensor>
_scaled_mm_out(const at::Tensor & /*out*/, const at::Tensor & /*out_amax*/, const at::Tensor & /*self*/,
               const at::Tensor & /*mat2*/, const at::Tensor & /*bias*/, std::optional<at::ScalarType> /*out_dtype*/,
               const at::Tensor & /*scale_a*/, const at::Tensor & /*scale_b*/, const at::Tensor & /*scale_result*/) {
  redsi_gotch::changed_operator("_scaled_mm_out");
}

#if TORCH_VERSION_MINOR >= 13
inline std::vector<at::Tensor> align_tensors(const std::vector<at::Tensor> & /*tensors*/) {
  redsi_gotch::changed_operator("align_tensors");
}
// A method: its one call is of this name, which nothing else in gotch's source is.
#define align_as(other) expand_as((redsi_gotch::changed_operator("align_as"), (other)))
#endif

#if TORCH_VERSION_MINOR >= 14
inline at::Tensor cholesky(const at::Tensor & /*self*/, bool /*upper*/) { redsi_gotch::changed_operator("cholesky"); }
inline at::Tensor &cholesky_out(at::Tensor & /*out*/, const at::Tensor & /*self*/, bool /*upper*/) {
  redsi_gotch::changed_operator("cholesky_out");
}
inline std::tuple<at::Tensor, at::Tensor> qr(const at::Tensor & /*self*/, bool /*some*/) {
  redsi_gotch::changed_operator("qr");
}
inline std::tuple<at::Tensor, at::Tensor> qr_out(const at::Tensor & /*q*/, const at::Tensor & /*r*/,
                                                 const at::Tensor & /*self*/, bool /*some*/) {
  redsi_gotch::changed_operator("qr_out");
}
#endif

} // namespace torch

#endif
