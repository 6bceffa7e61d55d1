package main

import (
	"embed"
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

// shapes are what the tools run, of COUNT steps: pipelines, Snakefiles, and a shell's script.
//
//go:embed shapes
var shapes embed.FS

func shapeText(tool, shape string, n int) (string, error) {
	if shape == "chain" {
		return chainText(tool, n), nil
	}
	kind := map[string]string{"redsi": ".hcl", "snakemake": ".smk", "make": ".mk", "cp": ".sh"}[tool]
	b, err := shapes.ReadFile("shapes/" + shape + kind)
	return strings.ReplaceAll(string(b), "COUNT", strconv.Itoa(n)), err
}

func chainText(tool string, n int) string {
	first, other := "rule c0:\n    output: 'out/0'\n    shell: 'echo 0 > {output}'\n\n",
		"rule c%[1]d:\n    input: 'out/%[2]d'\n    output: 'out/%[1]d'\n    shell: '(cat {input}; echo %[1]d) | tail -n 3 > {output}'\n\n"
	var b strings.Builder
	if tool == "redsi" {
		first, other = "step \"command\" \"c0\" {\n  argv    = [\"sh\", \"-c\", \"echo 0 > out/x\"]\n  outputs = [\"x\"]\n}\n", `step "command" "c%[1]d" {
  argv    = ["sh", "-c", "(cat in/p/x; echo %[1]d) | tail -n 3 > out/x"]
  inputs  = { p = step.command.c%[2]d.out }
  outputs = ["x"]
}
`
	} else {
		fmt.Fprintf(&b, "rule all:\n    input: expand('out/{i}', i=range(%d))\n\n", n)
	}
	b.WriteString(first)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, other, i, i-1)
	}
	return b.String()
}

// written is what all processes of a run wrote to disk.
var written = value{"GB", func(s sample) float64 { return s.Written / 1e9 }, false}

// bytesLines run steps whose inputs are large and whose work is small.
var bytesLines = []line{
	{name: "bytes_three_steps_vs_snakemake", takes: 9, target: 0.95, value: written, once: true,
		doc:  "a step makes a file of 1 GB and two read it: what is written to disk; snakemake keeps no copy of what it makes",
		ours: redsiDAG("large", 3, "first"), peer: snakemakeDAG("large", 3, "first")},
	{name: "bytes_three_steps_vs_cp", takes: 3, target: 0.5, value: seconds, once: true,
		doc:  "the same, by the clock, against a shell that copies the file with cp into the folder of each reader, and neither hashes nor syncs it",
		ours: redsiDAG("large", 3, "first"), peer: copiesDAG("large", 3)},
	{name: "bytes_tree_40_vs_snakemake", takes: 30, target: 1, value: seconds,
		doc:  "a step makes a tree of 40 files of 2 MB and 40 steps read all of it, by the clock",
		ours: redsiDAG("tree", 41, "first"), peer: snakemakeDAG("tree", 41, "first")},
}

// copiesDAG does the work of three steps in folders of their own, as a shell does it.
func copiesDAG(shape string, n int) side {
	return side{command: func(*env) ([]string, error) {
		return ours("dag", "cp", "/bin/sh", shape, strconv.Itoa(n), "first"), nil
	}, is: "sh and cp"}
}
