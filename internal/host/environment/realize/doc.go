// Package realize makes environments of their recipes on this machine, each once, and keeps them
// in a folder that all of a user's processes share.
//
// An environment lies in a folder named by the digest of its packages. Whoever makes it holds its
// lock alone, whoever uses it holds it with others; a record beside the folder, written last, says
// that it is whole. What has no record was left by a process that was ended, and is made again.
//
// It starts the installers (uv, pip, micromamba, mamba, conda, nix, podman, docker, apptainer) and
// must not know what a step is.
package realize
