package main

import (
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

// splitter writes each line of its input to a file that is named by its first word.
const splitter = `awk '{ f = "%s/" $1; print > f; close(f) }' %s`

// piecesText is a pipeline that cuts a file into pieces and gathers them again: the pieces
// are those that are found, or those that are written down.
func piecesText(shape string, n int) string {
	each := `files(step.command.split.out, "s/*")`
	if shape == "written" {
		each = fmt.Sprintf(`merge([for i in range(%d) : { for j in range(100) : format("%%05d", 100 * i + j) => step.command.split.out[format("s/%%05d", 100 * i + j)] }]...)`, n/100)
	}
	return fmt.Sprintf(`step "command" "split" {
  script  = %q
  files   = { "pieces.txt" = file("pieces.txt") }
  outputs = ["s/"]
}
step "command" "piece" {
  for_each = %s
  argv     = ["cat", "in/x"]
  inputs   = { x = each.value }
}
step "command" "all" {
  argv  = ["sh", "-c", "cat in/x/* > out/all"]
  lists = { x = step.command.piece[*].stdout }
  outputs = ["all"]
}
`, fmt.Sprintf(splitter, "out/s", "pieces.txt"), each)
}

// snakemakePieces is the same, by a checkpoint.
const snakemakePieces = `
import os
rule all:
    input: 'out/all'

checkpoint split:
    input: 'pieces.txt'
    output: directory('s')
    shell: 'mkdir -p s; ' + r"""awk '{{ f = "s/" $1; print > f; close(f) }}' {input}"""

rule piece:
    input: 's/{i}'
    output: 'out/p/{i}'
    shell: 'cat {input} > {output}'

def pieces(wildcards):
    folder = checkpoints.split.get().output[0]
    return expand('out/p/{i}', i=sorted(glob_wildcards(os.path.join(folder, '{i}')).i))

rule gather:
    input: pieces
    output: 'out/all'
    shell: 'cat {input} > {output}'
`
