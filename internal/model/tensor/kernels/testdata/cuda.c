// A CUDA runtime of software, put in front of NVIDIA's by LD_PRELOAD: one device whose memory is the host's, whose kernels do
// nothing, and which records. It says in the file REDSI_TEST_LOG what it was asked for, and fails in the function that
// REDSI_TEST_FAIL names. What libtorch does with it is libtorch's own code.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int status;
enum { ok = 0, invalid = 1, failed = 901, not_permitted = 900 };
typedef struct { int capturing, broken; unsigned long long id; } stream;

static unsigned long long captures;
static stream *recording;
static _Thread_local status last;
// This thread records, and how it may ask for what CUDA does not let it ask for meanwhile: 2 is relaxed.
static _Thread_local int records, mode;

static status does(const char *function) {
  const char *path = getenv("REDSI_TEST_LOG"), *fail = getenv("REDSI_TEST_FAIL");
  FILE *log = path ? fopen(path, "a") : NULL;
  if (log) { fprintf(log, "%s\n", function); fclose(log); }
  return last = fail && !strcmp(fail, function) ? failed : ok;
}

// Refuses what the thread that records may not ask for, and breaks the recording, as CUDA does.
static status unsafe(void) {
  if (!records || mode == 2) return ok;
  recording->broken = 1;
  return last = not_permitted;
}

// Whether the card may still be at a replay on the default stream. What it reads must not be written by another one.
static int replaying;

// What a stream is asked to do. While another one is recorded, an update would be done without it.
static status work(stream *s) {
  if (s && !s->capturing && replaying) return does("beside a replay");
  return does(s && s->capturing ? "recorded" : recording ? "done while it records" : "launch");
}

status cudaGetDeviceCount(int *n) { *n = 1; return ok; }
status cudaDriverGetVersion(int *v) { *v = 13000; return ok; }
status cudaGetDevice(int *d) { *d = 0; return ok; }
status cudaSetDevice(int d) { return d == 0 ? ok : invalid; }
status cudaGetLastError(void) { status s = last; last = ok; return s; }
status cudaPeekAtLastError(void) { return last; }
// A card of compute capability 9.0: its warps, shared memory and processors, and enough of the rest.
status cudaDeviceGetAttribute(int *v, int what, int d) {
  *v = what == 75 ? 9 : what == 76 ? 0 : what == 10 ? 32 : what == 8 ? 48 << 10 : what == 16 ? 132 : 1024;
  return ok;
}
// cudaDeviceProp of CUDA 13.0: what is used of it has these places.
status cudaGetDeviceProperties(char *p, int d) {
  memset(p, 0, 1008);
  for (char *at = p + 288; at < p + 1008; at += sizeof(int)) *(int *)at = 1024;
  *(int *)(p + 308) = 32;  // warpSize
  *(int *)(p + 360) = 9;   // major
  *(int *)(p + 364) = 0;   // minor
  *(int *)(p + 384) = 132; // multiProcessorCount
  return ok;
}
status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared, unsigned flags) { *n = 8; return ok; }
status cudaMemGetInfo(size_t *now, size_t *total) { *now = *total = 1ull << 34; return ok; }
status cudaMalloc(void **p, size_t n) {
  if (unsafe() != ok) return last;
  *p = aligned_alloc(512, n = (n + 511) / 512 * 512);
  memset(*p, 0, n);
  return does("malloc");
}
status cudaFree(void *p) {
  if (unsafe() != ok) return last;
  if (p) does("free");
  free(p);
  return ok;
}
status cudaMemsetAsync(void *p, int v, size_t n, stream *s) { return work(s); }
status cudaDeviceSynchronize(void) {
  const status s = unsafe();
  if (s == ok) replaying = 0;
  return s;
}
status cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return ok; }
status cudaStreamCreateWithPriority(stream **s, unsigned flags, int priority) { *s = calloc(1, sizeof **s); return ok; }
status cudaStreamQuery(stream *s) { return ok; }
status cudaStreamSynchronize(stream *s) {
  if (s && s->capturing) { s->broken = 1; return last = not_permitted; }
  return ok;
}
status cudaEventCreateWithFlags(void **e, unsigned flags) { *e = malloc(1); return ok; }
status cudaEventDestroy(void *e) { free(e); return ok; }
status cudaEventRecord(void *e, stream *s) { return ok; }
status cudaEventRecordWithFlags(void *e, stream *s, unsigned flags) { return ok; }
status cudaEventQuery(void *e) { return unsafe(); }
status cudaEventSynchronize(void *e) { return unsafe(); }
status cudaStreamWaitEvent(stream *s, void *e, unsigned flags) { return ok; }
status cudaThreadExchangeStreamCaptureMode(int *m) { const int old = mode; mode = *m; *m = old; return ok; }
typedef struct { unsigned x, y, z; } dim3;
status __cudaGetKernel(void **kernel, const void *f) { *kernel = (void *)f; return ok; }
status __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared, stream *s) {
  return work(s);
}
status cudaLaunchKernelExC(const struct { dim3 grid, block; size_t shared; stream *s; } *how, const void *f, void **args) {
  return work(how->s);
}
// A kernel may have as many threads and as much shared memory as any card of today's; the rest of cudaFuncAttributes is 0.
status cudaFuncGetAttributes(int *a, const void *f) { memset(a, 0, 64); a[6] = 1024, a[7] = 32, a[8] = a[9] = 90; return ok; }
status cudaFuncSetAttribute(const void *f, int what, int v) { return ok; }

// While it records, only what stays on the card is copied: elsewhere the host would have to keep it for replays.
enum { device_to_device = 3 };
status cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, stream *s) {
  if (s && s->capturing) {
    if (kind == device_to_device) return work(s);
    s->broken = 1;
    return last = not_permitted;
  }
  memcpy(to, from, n);
  return recording ? work(s) : ok;
}
status cudaHostAlloc(void **p, size_t n, unsigned flags) { *p = calloc(1, n); return unsafe(); }
status cudaFreeHost(void *p) { free(p); return ok; }
status cudaPointerGetAttributes(void *a, const void *p) { memset(a, 0, 32); return ok; }

status cudaStreamIsCapturing(stream *s, int *is) { *is = s ? s->capturing : 0; return ok; }
status cudaStreamGetCaptureInfo(stream *s, int *is, unsigned long long *id, void *graph, void *needs, void *edges, size_t *n) {
  *is = s ? s->capturing : 0;
  if (id) *id = s ? s->id : 0;
  return ok;
}
status cudaStreamBeginCapture(stream *s, int mode) {
  if (recording || does("begin") != ok) return last = failed;
  recording = s, records = 1;
  *s = (stream){1, 0, ++captures};
  return ok;
}
status cudaStreamEndCapture(stream *s, void **graph) {
  const status fails = does("end");
  *graph = NULL;
  if (recording != s) return last = invalid;
  const int broken = s->broken;
  // With a failure that is asked for the stream goes on recording, until it is ended again.
  if (fails != ok) { unsetenv("REDSI_TEST_FAIL"); return last = fails; }
  *s = (stream){0};
  recording = NULL, records = 0;
  if (broken) return last = failed;
  *graph = malloc(1);
  return ok;
}
status cudaGraphGetNodes(void *graph, void *nodes, size_t *n) { *n = 3; return ok; }
status cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  if (does("instantiate") != ok) return last;
  *exec = malloc(1);
  return ok;
}
status cudaGraphLaunch(void *exec, stream *s) {
  replaying = 1;
  return does("replay");
}
status cudaGraphDestroy(void *graph) { free(graph); return does("destroy"); }
status cudaGraphExecDestroy(void *exec) { free(exec); return does("exec destroy"); }

status cublasCreate_v2(void **h) { *h = malloc(1); return does(recording ? "cublas while it records" : "cublas"); }
status cublasDestroy_v2(void *h) { return ok; }
status cublasSetStream_v2(void *h, stream *s) { return ok; }
status cublasSetWorkspace_v2(void *h, void *p, size_t n) { return ok; }
status cublasSetMathMode(void *h, int mode) { return ok; }
status cublasGetMathMode(void *h, int *mode) { *mode = 0; return ok; }
status cublasSetPointerMode_v2(void *h, int mode) { return ok; }
status cublasGetPointerMode_v2(void *h, int *mode) { *mode = 0; return ok; }
status cublasSgemm_v2(void *h) { return does("gemm"); }
status cublasGemmEx(void *h) { return does("gemm"); }

// Of the driver, which this is too.
status cuDevicePrimaryCtxGetState(int d, unsigned *flags, int *active) { *flags = 0; *active = 1; return ok; }
status cuDriverGetVersion(int *v) { *v = 13000; return ok; }
status cuCtxGetCurrent(void **c) { *c = (void *)1; return ok; }
status cublasSgemmStridedBatched(void) { return does("gemm"); }
status cublasSdot_v2(void) { return does("gemm"); }
size_t cudnnGetVersion(void) { return 91900; }
