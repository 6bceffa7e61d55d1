package cudagraph

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"runtime"
)

// File is the library's name wherever it is.
const File = "libredsi_graphs.so"

//go:embed library/graph.cc
var source string

//go:embed table.h
var table string

// Name is the folder of the part cuda-graphs that has the library for this program and libtorch of this
// version: another source is another folder. The Makefile makes the same name.
func Name(version string) string {
	sum := sha256.Sum256([]byte(source + table))
	return version + "-" + hex.EncodeToString(sum[:6]) + "-" + runtime.GOOS + "-" + runtime.GOARCH
}
