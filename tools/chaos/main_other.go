//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: needs Linux, for /proc")
	os.Exit(1)
}
