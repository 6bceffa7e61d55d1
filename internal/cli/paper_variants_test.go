package cli

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/kinds"
	"github.com/redsi/redsi/step"
)

// planned is plan --json.
type planned struct {
	Steps []struct{ Address, Kind, Outcome, Key string }
}

// with returns the addresses whose outcome is one of those named, in the plan's order.
func (p planned) with(outcomes ...string) []string {
	var out []string
	for _, s := range p.Steps {
		if slices.Contains(outcomes, s.Outcome) {
			out = append(out, s.Address)
		}
	}
	return out
}

// added is what each example adds to the paper's plan: all that it can cost.
var added = map[string][]string{
	"text_key.hcl":          {"step.serialize.every_record", "step.dedup.html_text", "table.text_keys"},
	"longest_text.hcl":      {"step.serialize.simplified_records", "step.dedup.longest"},
	"serializer_option.hcl": {"step.serialize.kept", "step.first_tokens.kept"},
	"budgets.hcl": {"step.naive_ids.sparse", "step.train.sparse", `step.evaluate.sparse["post_filtered"]`, `step.evaluate.sparse["trie"]`,
		"table.sparse"},
	"t5_size.hcl": {`step.random_t5.mini["mini"]`, `step.train.mini["atomic"]`, `step.train.mini["naive"]`, `step.train.mini["semantic"]`,
		`step.evaluate.mini["atomic"]`, `step.evaluate.mini["naive"]`, `step.evaluate.mini["semantic"]`, "table.mini"},
	"seeds.hcl": {`step.train.seeded["atomic/42"]`, `step.train.seeded["atomic/43"]`, `step.train.seeded["atomic/44"]`,
		`step.train.seeded["naive/42"]`, `step.train.seeded["naive/43"]`, `step.train.seeded["naive/44"]`,
		`step.train.seeded["semantic/42"]`, `step.train.seeded["semantic/43"]`, `step.train.seeded["semantic/44"]`,
		`step.evaluate.seeded["atomic/42"]`, `step.evaluate.seeded["atomic/43"]`, `step.evaluate.seeded["atomic/44"]`,
		`step.evaluate.seeded["naive/42"]`, `step.evaluate.seeded["naive/43"]`, `step.evaluate.seeded["naive/44"]`,
		`step.evaluate.seeded["semantic/42"]`, `step.evaluate.seeded["semantic/43"]`, `step.evaluate.seeded["semantic/44"]`, "table.seeded"},
}

func TestAddedSteps(t *testing.T) {
	t.Parallel()
	base := loadPaper(t, nil)
	for name, want := range added {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(example(name))
			testkit.None(t, err)
			got := difference(t, base, loadPaper(t, map[string][]byte{name: src}))
			slices.Sort(got)
			want := slices.Sorted(slices.Values(want))
			testkit.Deep(t, got, want, strings.Join(got, "\n "), strings.Join(want, "\n "))
		})
	}
}

// TestSeedsShareTheFirst: what the example trains under the paper's seed is the
// paper's own step under another name, so that it is not trained again.
func TestSeedsShareTheFirst(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(example("seeds.hcl"))
	testkit.None(t, err)
	tasks := loadPaper(t, map[string][]byte{"seeds.hcl": src})
	for _, id := range []string{"atomic", "naive", "semantic"} {
		paper := tasks[`step.train.dsi["title/nci_norm/small/`+id+`/42"]`]
		paper.Checks = nil // which are in no key
		if same := tasks[`step.train.seeded["`+id+`/42"]`]; paper.Kind != "train" || !reflect.DeepEqual(same, paper) {
			t.Errorf("%s: the example trains\n%+v\nthe paper\n%+v", id, same, paper)
		}
		if other := tasks[`step.train.seeded["`+id+`/43"]`]; reflect.DeepEqual(other, paper) {
			t.Errorf("%s: seed 43 is seed 42", id)
		}
	}
}

// TestLongerLists: what the head of pipelines.hcl gives as examples, and a word more in
// another list, are variants, and cost what docs/reproduction.md says.
func TestLongerLists(t *testing.T) {
	t.Parallel()
	base, src := loadPaper(t, nil), string(paperSources(t)[syntax.DefaultFile])
	for _, v := range []struct {
		variable, value string
		want            map[string]int // steps added, by kind
	}{
		{"seeds", "[42, 43, 44, 45, 46, 47]", map[string]int{"train": 12, "evaluate": 12}},
		{"more_dedup", `{ page_or_title = { key = "page_id", fallback = "title" } }`, map[string]int{"dedup": 1}},
		{"ratios", `["0:1", "natural", "1:1", "2:1", "4:1", "8:1", "16:1", "32:1", "64:1"]`, map[string]int{"train": 3, "evaluate": 3}},
		{"budgets", "[1, 2, 4, 8, 16, 32, 64]", map[string]int{"naive_ids": 1, "train": 1, "evaluate": 2}},
		{"max_input", `{ "32" = 32, "64" = 64, "128" = 128 }`, map[string]int{"train": 18, "evaluate": 18}},
	} {
		t.Run(v.variable, func(t *testing.T) {
			var edited map[string]step.Task
			if v.variable == "max_input" { // a local value
				const old = `{ "32" = 32, "64" = 64 }`
				if strings.Count(src, old) != 1 {
					t.Fatalf("pipelines.hcl has not once %q", old)
				}
				edited = loadPaper(t, map[string][]byte{syntax.DefaultFile: []byte(strings.Replace(src, old, v.value, 1))})
			} else if edited = loadPaper(t, nil, v.variable, v.value); !strings.Contains(src, ": "+v.value+"\nvariable \""+v.variable+"\"") {
				t.Errorf("pipelines.hcl has no such example of %s", v.variable)
			}
			got := map[string]int{}
			for _, address := range difference(t, base, edited) {
				got[edited[address].Kind]++
			}
			testkit.Deep(t, got, v.want, "it adds")
		})
	}
}

// TestMoreIdentifiers: the variable turns a type of identifiers on, at both scales, in
// every collection, form and size, and takes nothing from the paper's steps.
func TestMoreIdentifiers(t *testing.T) {
	t.Parallel()
	for _, scale := range []string{"toy", "full"} {
		base := loadPaper(t, nil, "scale", scale)
		for _, id := range []string{"residual", "title"} {
			more := loadPaper(t, nil, "scale", scale, "more_identifiers", `["`+id+`"]`)
			got, its := map[string]int{}, regexp.MustCompile(`"[^"]*/`+id+`[/"]|\.`+id+`_ids\.`)
			for _, address := range difference(t, base, more) {
				got[more[address].Kind]++
				if !its.MatchString(address) {
					t.Errorf("%s: it adds %s", scale, address)
				}
			}
			testkit.Deep(t, got, map[string]int{id + "_ids": 4, "train": 12, "evaluate": 15}, scale, id)
		}
	}
}

// paperSources are the files of the paper's pipeline.
func paperSources(t *testing.T) map[string][]byte {
	files, err := syntax.Read(filepath.Join("..", "..", syntax.DefaultFile))
	testkit.None(t, err)
	sources := map[string][]byte{}
	for name, src := range files {
		sources[filepath.Base(name)] = src
	}
	return sources
}

// loadPaper loads the paper's pipeline, with files beside it or in its place, at toy
// scale or with other names and values of variables: the task of each address.
func loadPaper(t *testing.T, beside map[string][]byte, variables ...string) map[string]step.Task {
	t.Helper()
	vars := map[string]string{"scale": "toy"}
	for i := 0; i < len(variables); i += 2 {
		vars[variables[i]] = variables[i+1]
	}
	sources := paperSources(t)
	maps.Copy(sources, beside)
	p, ds := pipeline.Load(sources, pipeline.Options{Registry: kinds.Registry(), Vars: vars,
		World: pipeline.World{ReadFile: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join("..", "..", name)) }}})
	testkit.None(t, ds.Err())
	tasks := map[string]step.Task{}
	for _, s := range p.Steps {
		tasks[s.Address] = s.Task
	}
	return tasks
}

// difference is what variant has and base has not. A step of the paper that a
// variant takes away or changes is a mistake; its tables may grow.
func difference(t *testing.T, base, variant map[string]step.Task) []string {
	t.Helper()
	var out []string
	for address := range variant {
		if _, ok := base[address]; !ok {
			out = append(out, address)
		}
	}
	for address, task := range base {
		now, ok := variant[address]
		if !ok || strings.HasPrefix(address, "step.") && task.Kind != "effects" && !reflect.DeepEqual(now, task) {
			t.Errorf("%s is not what it was", address)
		}
	}
	return out
}

// TestVariantsRunAlone: once the steps that it builds on have results, what an example says
// it costs is exactly what it adds.
func TestVariantsRunAlone(t *testing.T) {
	t.Parallel()
	variants := []string{"text_key.hcl", "longest_text.hcl", "serializer_option.hcl"}
	p := newPaper(t)
	p.args = append(p.args, "--var", "toy_pages=12")
	p.run("run", "--quiet", "--out", p.out, "-t", "table.dedup_counts", "-t", `step.serialize.nq["page_id/html_norm"]`)
	folder := p.args[1]
	for _, name := range variants {
		t.Run(name, func(t *testing.T) {
			src, err := os.ReadFile(example(name))
			testkit.None(t, err)
			testkit.Write(t, filepath.Join(folder, name), src)
			defer os.Remove(filepath.Join(folder, name))
			verb := []string{"plan", "--json"}
			for _, address := range added[name] {
				verb = append(verb, "-t", address)
			}
			var got planned
			p.json(&got, verb...)
			testkit.Deep(t, got.with("run"), added[name][:1], "runs")
			testkit.Deep(t, got.with("maybe"), added[name][1:], "may run")
			if len(got.with("hit")) < 4 {
				t.Errorf("only %v are hits", got.with("hit"))
			}
		})
	}
}
