// Package hub knows repositories of the Hugging Face hub, and the command of the hub's own
// program that uploads one.
//
// It owns the hub's requirements for a repository: metadata at the head of README.md, limits
// of files, and which of them go to Git LFS. It must not know steps, stores or pipelines: a
// file is a name and a size here.
package hub
