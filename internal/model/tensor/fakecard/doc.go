// Package fakecard is a CUDA card made of software, for tests: libtorch in this process takes it for the first card.
//
// Tensors on it have libtorch's own dispatch key of CUDA, so the code that runs is the one that runs on a card: what
// libtorch composes for CUDA, the autograd engine's thread of the device, pinned memory, every choice by Device.IsCUDA.
// Values are computed by libtorch's CPU kernels. What only a real card would refuse, it refuses:
//
//   - an operator that mixes tensors of the card and of the CPU fails and names both;
//   - memory of the card has addresses that the host may not touch: a kernel for the CPU, or a
//     loop over data, that is given such a tensor by mistake dies at once;
//   - memory is handed out filled with NaN, so that nothing may count on zeros;
//   - a copy from the card that does not wait is not there before something waits.
//
// Count says what a step asks of a card: launches, by CUDA's own rule for operators on lists (launches.h), copies, waits.
//
// It says nothing of CUDA's own kernels: that they exist, what they round and how fast they are.
//
// It knows nothing of this project but libtorch's folder, and only tests may import it: once
// installed it stays for the life of the process.
package fakecard
