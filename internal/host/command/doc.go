// Package command runs a program in a folder of its own: with only the environment that it is given, its output
// streamed, its process group ended when the caller no longer wants it, and its declared output files found.
//
// It owns processes and folders. It must not know where inputs come from, where outputs go, or what a step is.
package command
