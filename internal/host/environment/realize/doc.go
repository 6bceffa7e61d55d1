// Package realize builds environments from their recipes on this machine, each once, and keeps them in a folder that all
// of a user's processes share.
//
// An environment lies in a folder named by the digest of its packages. The process that builds it holds its lock
// exclusively, processes that use it share the lock; a record beside the folder, written last, says that it is complete.
// An environment without a record was left by a process that was killed, and is rebuilt.
//
// It starts installers (uv, pip, micromamba, mamba, conda, nix, podman, docker, apptainer) and must not know steps.
package realize
