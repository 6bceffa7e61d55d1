//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// work is what every step of a command does. It leaves a mark for each time that
// it runs, in the last folder of PATH, which is the one variable that a step gets
// from its worker and that is in no key. Arguments: the step's mark, tenths of a
// second to work for, and whether it is to die the first time that it runs. Where rivals
// says so it waits for another one and leaves something else than ever.
const work = `marks=${PATH##*:}
echo $$ >>"$marks/$1"
if [ "$3" = once ] && [ ! -e "$marks/died.$1" ]; then
  : >"$marks/died.$1"
  echo "dying once" >&2
  kill -9 $$
fi
if [ -e "$marks/rivals.$1" ]; then
  until [ "$(wc -l <"$marks/$1")" -ge 3 ]; do sleep 0.1; done
  set -- "$(cat /proc/sys/kernel/random/uuid)" 0
fi
i=0
while [ $i -lt "$2" ]; do
  sleep 0.1
  i=$((i+1))
  echo "$i of $2" >&2
done
{ echo "$1"; find in -type f | sort | while read -r f; do cat "$f"; done; } |
  awk '{ s = (s * 31 + length($0) * 7 + NR) % 1000003; print } END { print "sum " s }' >all
tail -c 20000 all >out/text
awk 'END { printf "{\"lines\": %d}\n", NR }' all >out/numbers.json
`

// shape says how large a pipeline is. Two of the same shape are the same.
type shape struct {
	Name    string `json:"name"`
	Fast    int    `json:"fast"`              // steps without inputs that end at once
	Slow    int    `json:"slow"`              // steps that take a while and say how far they are
	Tenths  int    `json:"tenths,omitempty"`  // how long a slow one takes
	Once    int    `json:"once,omitempty"`    // steps that die the first time
	Corpus  bool   `json:"corpus,omitempty"`  // a generated corpus, extracted in parts
	Private bool   `json:"private,omitempty"` // steps of its own for each value of the variable "run"
}

// shapes are what rounds choose from.
var shapes = []shape{
	{Name: "small", Fast: 6, Slow: 2, Tenths: 10, Once: 1},
	{Name: "parts", Fast: 4, Slow: 2, Tenths: 8, Once: 1, Corpus: true},
	{Name: "slow", Fast: 3, Slow: 3, Tenths: 25},
	{Name: "wide", Fast: 24, Slow: 1, Tenths: 5, Once: 2},
}

func shapeOf(r *rand.Rand) shape { return shapes[r.IntN(len(shapes))] }

// steps is how many steps the pipeline has, its table included.
func (s shape) steps() int {
	n := s.Fast + s.Slow + s.Once + s.Fast/2 + 2
	if s.Corpus {
		n += 3
	}
	if s.Private {
		n++
	}
	return n
}

// hcl is the pipeline: a layer of steps without inputs, one that reads them, a
// step that reads all, and a table of its numbers.
func (s shape) hcl() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("locals {\n  work = { \"work.sh\" = file(\"work.sh\") }\n}")
	block := func(name string, n, tenths int, mode, inputs string) {
		p(`step "command" %q {`, name)
		p(`  for_each = toset([for i in %s : "n${i}"])`, numbers(n))
		p(`  argv     = ["sh", "work.sh", "%s-${each.key}", "%d", %q]`, name, tenths, mode)
		p(`  files    = local.work`)
		p(`  outputs  = ["text", "numbers.json"]`)
		if inputs != "" {
			p(`  inputs   = { %s }`, inputs)
		}
		p("}")
	}
	var last []string
	add := func(name string, n, tenths int, mode, inputs string) {
		if n > 0 {
			block(name, n, tenths, mode, inputs)
			last = append(last, fmt.Sprintf("%s = [for i in %s : step.command.%s[\"n${i}\"].out]", name, numbers(n), name))
		}
	}
	add("fast", s.Fast, 0, "", "")
	add("slow", s.Slow, s.Tenths, "", "")
	add("once", s.Once, 0, "once", "")
	add("next", s.Fast/2, 1, "", `first = step.command.fast[each.key].out`)
	if s.Private {
		p("variable \"run\" { default = \"0\" }")
		p("step \"command\" \"own\" {\n  argv = [\"sh\", \"work.sh\", \"own-${var.run}\", \"2\", \"\"]\n  files = local.work\n  outputs = [\"text\", \"numbers.json\"]\n}")
	}
	if s.Corpus {
		p("step \"synth\" \"corpus\" {\n  pages = 12\n  train_questions = 24\n  dev_questions = 12\n}")
		p("step \"extract\" \"train\" {\n  files = step.synth.corpus.train\n  split = \"train\"\n}")
		p("step \"extract\" \"dev\" {\n  files = step.synth.corpus.dev\n  split = \"dev\"\n}")
		last = append(last, "headers = [step.extract.train.headers, step.extract.dev.headers]")
	}
	p("step \"command\" \"all\" {\n  argv = [\"sh\", \"work.sh\", \"all\", \"1\", \"\"]\n  files = local.work")
	p("  outputs = [\"text\", \"numbers.json\"]\n  lists = {\n    %s\n  }\n}", strings.Join(last, "\n    "))
	p(`table "lines" {
  caption = "Lines that all steps left."
  stubs   = ["Step"]
  columns = [{ id = "lines", title = "Lines", format = "integer" }]
  rows    = [{ id = "all", titles = ["all"], value = step.command.all.out, at = "numbers.json:" }]
}`)
	return b.String()
}

// numbers is the expression of the list 0 to n-1: a range has 1,024 values at most.
func numbers(n int) string {
	const most = 1000
	if n <= most {
		return fmt.Sprintf("range(%d)", n)
	}
	var parts []string
	for at := 0; at < n; at += most {
		parts = append(parts, fmt.Sprintf("range(%d, %d)", at, min(at+most, n)))
	}
	return "concat(" + strings.Join(parts, ", ") + ")"
}

// write puts the pipeline into a folder.
func (s shape) write(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "work.sh"), []byte(work), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "pipelines.hcl"), []byte(s.hcl()), 0o644)
}

// markOf is the mark that the step of an address leaves; "" for one that is no
// command of ours.
func markOf(address string) string {
	name, ok := strings.CutPrefix(address, "step.command.")
	if !ok {
		return ""
	}
	name, rest, each := strings.Cut(name, `["`)
	if !each {
		return name
	}
	return name + "-" + strings.TrimSuffix(rest, `"]`)
}

// marks counts how often each step has begun.
func marks(dir string) map[string]int {
	out := map[string]int{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil && !strings.HasPrefix(e.Name(), "died.") {
			out[e.Name()] = strings.Count(string(b), "\n")
		}
	}
	return out
}
