package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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

// written is what all processes of a run wrote to disk.
var written = value{"GB", func(s sample) float64 { return s.Written / 1e9 }, false}

// bytesLines run steps whose inputs are large and whose work is small.
var bytesLines = []line{
	{name: "bytes_three_steps_vs_snakemake", target: 0.95, value: written, once: true,
		doc:  "a step makes a file of 1 GB and two read it: what is written to disk, against snakemake 9.27 --cores 2, which keeps no copy of what it makes",
		ours: redsiDAG("large", 3, "first"), peer: snakemakeDAG("large", 3, "first")},
	{name: "bytes_three_steps_vs_cp", target: 0.5, value: seconds, once: true,
		doc:  "the same, by the clock, against a shell that copies the file with cp into the folder of each reader, and neither hashes nor syncs it",
		ours: redsiDAG("large", 3, "first"), peer: copiesDAG("large", 3)},
	{name: "bytes_tree_40_vs_snakemake", target: 1, value: seconds,
		doc:  "a step makes a tree of 40 files of 2 MB and 40 steps read all of it: by the clock, against snakemake 9.27 --cores 2",
		ours: redsiDAG("tree", 41, "first"), peer: snakemakeDAG("tree", 41, "first")},
}

// What makes the file, and the tree in a folder t.
const (
	makeLarge = `head -c 1000000000 /dev/zero`
	makeTree  = `for i in $(seq 40); do (echo $i; head -c 2000000 /dev/zero) > t/$i; done`
)

func redsiBytes(shape string, n int) string {
	if shape == "large" {
		return fmt.Sprintf(`step "command" "make" {
  argv    = ["sh", "-c", "%s > out/x"]
  outputs = ["x"]
}
step "command" "count" {
  argv    = ["sh", "-c", "wc -c < in/x/x > out/x"]
  inputs  = { x = step.command.make.out }
  outputs = ["x"]
}
step "command" "end" {
  argv    = ["sh", "-c", "cat in/n/x; tail -c 1 in/x/x > out/x"]
  inputs  = { n = step.command.count.out, x = step.command.make.out }
  outputs = ["x"]
}
`, makeLarge)
	}
	return fmt.Sprintf(`step "command" "make" {
  argv    = ["sh", "-c", "cd out; mkdir -p t; %s"]
  outputs = ["t/"]
}
step "command" "read" {
  for_each = toset([for i in range(%d) : tostring(i)])
  argv     = ["sh", "-c", "cat in/t/t/* | wc -c > out/x; echo ${each.key} >> out/x"]
  inputs   = { t = step.command.make.out }
  outputs  = ["x"]
}
`, makeTree, n-1)
}

// copiesDAG does the work of three steps in folders of their own, as a shell does it.
func copiesDAG(shape string, n int) side {
	return side{command: func(*env) ([]string, error) {
		return ours("dag", "cp", "/bin/sh", shape, strconv.Itoa(n), "first"), nil
	}}
}

const copies = makeLarge + ` > x
mkdir out count end && cp x count && cp x end && ln x out/make
(cd count && wc -c < x > ../out/count)
(cd end && (cat ../out/count; tail -c 1 x) > ../out/end)
`

func snakemakeBytes(shape string, n int) string {
	if shape == "large" {
		return fmt.Sprintf(`rule all:
    input: 'out/end'

rule make:
    output: 'out/make'
    shell: '%s > {output}'

rule count:
    input: 'out/make'
    output: 'out/count'
    shell: 'wc -c < {input} > {output}'

rule end:
    input: n='out/count', x='out/make'
    output: 'out/end'
    shell: 'cat {input.n}; tail -c 1 {input.x} > {output}'
`, makeLarge)
	}
	return fmt.Sprintf(`rule all:
    input: expand('out/{i}', i=range(%d))

rule make:
    output: 'out/made', directory('t')
    shell: 'mkdir -p t; %s; touch out/made'

rule read:
    wildcard_constraints: i='[0-9]+'
    input: 'out/made', 't'
    output: 'out/{i}'
    shell: 'cat t/* | wc -c > {output}; echo {wildcards.i} >> {output}'
`, n-1, makeTree)
}
