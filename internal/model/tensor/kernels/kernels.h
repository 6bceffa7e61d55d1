// Texts that are returned are to be freed.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

// Loads a library for good; returns what is wrong, or NULL.
char *redsi_kernels_load(const char *path);
// From now on operators that any thread calls are noted; end gives their names, a line each.
void redsi_kernels_log_begin(void);
char *redsi_kernels_log_end(void);
// Where an operator (aten::add.Tensor) has kernels, as words of: CUDA CPU composite autograd autograd-CPU;
// "unknown" if there is none of that name.
char *redsi_kernels_of(const char *name, const char *overload);
// Makes operators that a test asks for: redsi_test::on_cpu has a kernel for the CPU alone, redsi_test::no_grad one
// for CUDA too, but a derivative on the CPU alone.
void redsi_kernels_fakes(void);

#ifdef __cplusplus
}
#endif
