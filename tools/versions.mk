# The native parts, their versions and the checksums of what is downloaded. The Makefile includes this file and
# tools/deps reads it, so it holds only NAME = VALUE lines; a backslash at the end of a line continues the value.
#
# Checksums of everything else: the sources of gotch, tokenizers, Temporal and MinIO are Go modules (go.sum here and
# in tools/temporal-server, tools/temporal and tools/minio); the crates that tokenizers needs are pinned by its own Cargo.lock.

LIBTORCH_VERSION   = 2.11.0
GOTCH_VERSION      = 0.9.1
# Raise this when tools/native/gotch-libtorch211.h, the compiler's specs or the list of stub archives changes.
GOTCH_SHIM         = 2
# From 1.23 on, tokenizers takes a crate from a git repository, which no registry serves.
TOKENIZERS_VERSION = 1.22.2
# The versions in tools/temporal-server/go.mod, tools/temporal/go.mod and tools/minio/go.mod; a test compares them. The
# server and the temporal program name the same version of Temporal's server.
TEMPORAL_SERVER_VERSION = 1.29.1
TEMPORAL_VERSION   = 1.5.1
MINIO_VERSION      = 0.0.0-20260212201848-7aac2a2c5b7c

# The oldest tools that work.
GO_MIN     = 1.21
CARGO_MIN  = 1.78
PYTHON_MIN = 3.7
PIP_MIN    = 20.3

# sha256:wheel. A wheel's name says which distribution, version and platform pip is asked for. libtorch_cpu of the
# two Linux wheels needs the libraries of the other two wheels to load, on a machine without a GPU too.
# linux-amd64 is the platform that is built and tested; the other two were looked up, downloaded and unpacked only.
WHEELS_linux-amd64 = \
  7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a:torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl \
  4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8:nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl \
  7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548:nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
WHEELS_linux-arm64 = \
  d91aac77f24082809d2c5a93f52a5f085032740a1ebc9252a7b052ef5a4fddc6:torch-2.11.0-cp311-cp311-manylinux_2_28_aarch64.whl \
  796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151:nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_aarch64.whl \
  ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55:nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl
WHEELS_darwin-arm64 = \
  7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4:torch-2.11.0-cp311-cp311-macosx_11_0_arm64.whl
