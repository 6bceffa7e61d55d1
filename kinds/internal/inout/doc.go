// Package inout reads the inputs of kinds and writes their outputs: files, trees, JSON
// and its fields. It is what rooms of kinds share; it must not know any kind.
package inout
