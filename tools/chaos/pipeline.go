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
// second to work for, whether it is to die the first time that it runs, and how many pieces
// it leaves. Where rivals
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
n=0
while [ $n -lt "${4:-0}" ]; do
  echo "$n" >"out/pieces/n$n"
  n=$((n+1))
done
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
	Pieces  int    `json:"pieces,omitempty"`  // steps that are known only when another one has run
	Corpus  bool   `json:"corpus,omitempty"`  // a generated corpus, extracted in parts
	Private bool   `json:"private,omitempty"` // steps of its own for each value of the variable "run"
	Updates int    `json:"updates,omitempty"` // of a small model's training, with a checkpoint at each tenth of them
}

// shapes are what rounds choose from.
var shapes = []shape{
	{Name: "small", Fast: 6, Slow: 2, Tenths: 10, Once: 1},
	{Name: "parts", Fast: 4, Slow: 2, Tenths: 8, Once: 1, Corpus: true},
	{Name: "slow", Fast: 3, Slow: 3, Tenths: 25},
	{Name: "wide", Fast: 24, Slow: 1, Tenths: 5, Once: 2},
	{Name: "pieces", Fast: 4, Slow: 2, Tenths: 12, Once: 1, Pieces: 20},
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
	if s.Pieces > 0 {
		n += 1 + s.Pieces
	}
	if s.Updates > 0 {
		n += 6
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
	if s.Pieces > 0 {
		p("step \"command\" \"cut\" {\n  argv = [\"sh\", \"work.sh\", \"cut\", \"3\", \"\", \"%d\"]\n  files = local.work\n  outputs = [\"text\", \"numbers.json\", \"pieces/\"]\n}", s.Pieces)
		p("step \"command\" \"piece\" {\n  for_each = files(step.command.cut.out, \"pieces/*\")\n  argv = [\"sh\", \"work.sh\", \"piece-${each.key}\", \"1\", \"\"]\n  files = local.work\n  inputs = { piece = each.file }\n  outputs = [\"text\", \"numbers.json\"]\n}")
		last = append(last, "pieces = step.command.piece[*].out")
	}
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
	if s.Updates > 0 {
		p(learned, s.Updates, s.Updates/10)
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

// training begins the names of a training's outputs.
const training = "step.train.small."

// learned has a training of so many updates, with an evaluation and a checkpoint after so many.
const learned = `step "download" "few" { urls = ["documents.jsonl", "queries.jsonl"] }
step "import_corpus" "few" { files = step.download.few.files }
step "atomic_ids" "few" {
  documents   = step.import_corpus.few.documents
  first_token = 64
}
step "download" "tokenizer" { urls = ["tokenizer.json"] }
step "random_t5" "small" {
  layers     = 2
  d_model    = 16
  d_kv       = 8
  d_ff       = 32
  heads      = 2
  vocabulary = 64
}
step "train" "small" {
  model          = step.random_t5.small.model
  ids            = step.atomic_ids.few.ids
  corpus         = step.import_corpus.few.corpus
  queries        = step.import_corpus.few.queries
  tokenizer      = step.download.tokenizer.files
  steps          = %d
  batch          = 4
  evaluate_every = %d
}`

// collection is forty documents, and 120 queries of which each sixth is a development query.
func collection() (documents, queries string) {
	for i := range 120 {
		if i < 40 {
			documents += fmt.Sprintf(`{"id":"d%d","title":"%[1]d","text":"%d is the square of %[1]d"}`+"\n", i, i*i)
		}
		queries += fmt.Sprintf(`{"id":"q%d","document":"d%d","split":%q,"text":"which number is %d times %d"}`+"\n", i, i%40, []string{"dev", "train"}[min(1, i%6)], i%40, i%40)
	}
	return documents, queries
}

// tokenizer is one of T5's kind that knows letters.
func tokenizer() string {
	vocabulary := `["<pad>",0],["</s>",0],["<unk>",-9]`
	for _, r := range "▁abcdefghijklmnopqrstuvwxyz0123456789" {
		vocabulary += fmt.Sprintf(`,["%c",-3]`, r)
	}
	special := `{"id":%d,"content":%q,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}`
	return fmt.Sprintf(`{"version":"1.0","truncation":null,"padding":null,"added_tokens":[`+special+`,`+special+`,`+special+`],
"normalizer":{"type":"NFKC"},"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
"post_processor":{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],
"pair":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"B","type_id":0}}],
"special_tokens":{"</s>":{"id":"</s>","ids":[1],"tokens":["</s>"]}}},
"decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":true},
"model":{"type":"Unigram","unk_id":2,"vocab":[%s],"byte_fallback":false}}`, 0, "<pad>", 1, "</s>", 2, "<unk>", vocabulary)
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
	files := map[string]string{"work.sh": work, "pipelines.hcl": s.hcl()}
	if s.Updates > 0 {
		files["tokenizer.json"] = tokenizer()
		files["documents.jsonl"], files["queries.jsonl"] = collection()
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// markOf is the mark that the step of an address leaves; "" for one that is not a
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
