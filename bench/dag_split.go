package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writePieces writes a file with a line for each piece; the edit changes one of them.
func writePieces(dir string, n int, edit string) error {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%05d %d", i, i)
		if i == n/2 {
			b.WriteString(edit)
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(filepath.Join(dir, "pieces.txt"), []byte(b.String()), 0o644)
}

// A pipeline that cuts a file into pieces and gathers them again, and the same by a checkpoint.
var (
	//go:embed pieces.hcl
	redsiPieces string
	//go:embed peers/pieces.smk
	snakemakePieces string
)

// piecesText is the pipeline of n pieces: those that are found, or those that are written down.
func piecesText(shape string, n int) string {
	if shape == "pieces" {
		return redsiPieces
	}
	written := fmt.Sprintf(`merge([for i in range(%d) : { for j in range(100) : format("%%05d", 100 * i + j) => step.command.split.out[format("s/%%05d", 100 * i + j)] }]...)`, n/100)
	return strings.Replace(redsiPieces, `files(step.command.split.out, "s/*")`, written, 1)
}
