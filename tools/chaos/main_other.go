//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: it looks at processes by /proc, and so needs Linux")
	os.Exit(1)
}
