package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/nq320k"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
)

func example(name string) string { return filepath.Join("..", "..", "examples", name) }

// TestExamples loads each example, alone or beside the paper's pipeline, and
// checks that it is laid out as fmt does.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(example("*.hcl"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	files = append(files, example(filepath.Join("kmeans-study", "pipelines.hcl")), example(filepath.Join("second-paper", "pipelines.hcl")),
		example(filepath.Join("postgresql", "pipelines.hcl")), example(filepath.Join("ir_datasets", "pipelines.hcl")), example(filepath.Join("from-dvc", "pipelines.hcl")),
		example(filepath.Join("from-snakemake", "pipelines.hcl")), example(filepath.Join("ports", "split", "pipelines.hcl")), example(filepath.Join("ports", "checkpoint", "pipelines.hcl")),
		filepath.Join("..", "pipeline", "starter", "study", "pipelines.hcl"), filepath.Join("..", "pipeline", "starter", "nq", "pipelines.hcl"), filepath.Join("..", "..", "bench", "run_train.hcl"))
	var beside []string // the paper's pipeline, of which TestAddedSteps loads each alone
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			src, err := os.ReadFile(f)
			testkit.None(t, err)
			if bytes.Contains(src, []byte("Beside pipelines.hcl")) {
				if _, ok := added[filepath.Base(f)]; !ok {
					t.Error("TestAddedSteps does not know what it adds")
				}
				beside = append(beside, f)
			} else {
				p := &paper{t: t, args: append([]string{"-f", f, "--state", t.TempDir()}, aloneVars[filepath.Base(f)]...)}
				p.run("validate", "--strict")
			}
			p := &paper{t: t}
			p.run("fmt", "--check", f)
		})
	}
	for _, scale := range []string{"full", "sample", "toy"} {
		with := beside
		if scale == "sample" { // which has not the runs that they vary
			with = nil
		}
		p := newPaper(t, with...)
		p.args = append(p.args, "--var", "scale="+scale, "--var", "contact=me@example.org")
		p.run("validate", "--strict")
	}
}

// TestPortsOfOthers loads the ports of workflows whose files are not in the tree, with empty
// files in their place, and what examples/ports/try.py plants. Each names its original, its
// results and how its runs were counted, and changes only what is there.
func TestPortsOfOthers(t *testing.T) {
	t.Parallel()
	ports, err := filepath.Glob(example(filepath.Join("ports", "*", "port.json")))
	if err != nil || len(ports) < 6 {
		t.Fatalf("%d ports, %v", len(ports), err)
	}
	for _, port := range ports {
		t.Run(filepath.Base(filepath.Dir(port)), func(t *testing.T) {
			type edit struct{ File, From, To string }
			var of struct {
				Title, Counted string
				Source         struct{ Repository, Commit, Licence string }
				Files          map[string]struct{}
				Results        []struct{ Output, SHA256 string }
				Planted        []edit
				Changes        map[string]struct{ Edits []edit }
			}
			b, err := os.ReadFile(port)
			if err == nil {
				err = json.Unmarshal(b, &of)
			}
			folder := t.TempDir()
			testkit.None(t, errors.Join(err, os.CopyFS(folder, os.DirFS(filepath.Dir(port)))))
			if s := of.Source; of.Title == "" || of.Counted == "" || s.Repository == "" || s.Commit == "" || s.Licence == "" || len(of.Results) == 0 || len(of.Changes) < 4 {
				t.Errorf("title, counted, source, results or changes are not given: %+v", of)
			}
			edits := of.Planted
			for kind, change := range of.Changes {
				if !slices.Contains([]string{"library", "helper", "import", "parameter", "piece", "comment"}, kind) {
					t.Errorf("the table has no column for %s", kind)
				}
				edits = append(edits, change.Edits...)
			}
			for _, e := range edits {
				if text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(e.File))); err == nil && e.From != "" && strings.Count(string(text), e.From) != 1 {
					t.Errorf("%s has %q not once", e.File, e.From)
				}
			}
			texts := map[string]string{}
			for name := range of.Files {
				texts[name] = map[string]string{".ipynb": `{"cells": [{"cell_type": "code", "metadata": {}, "source": "1", "outputs": []}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`}[filepath.Ext(name)]
			}
			for _, e := range of.Planted {
				if e.From == "" {
					texts[e.File] += e.To
				}
			}
			for name, text := range texts {
				name = filepath.Join(folder, filepath.FromSlash(name))
				testkit.Write(t, name, text)
			}
			p := &paper{t: t, args: []string{"-f", filepath.Join(folder, "pipelines.hcl"), "--state", filepath.Join(folder, ".redsi")}}
			p.run("validate", "--strict")
			p = &paper{t: t}
			p.run("fmt", "--check", filepath.Join(folder, "pipelines.hcl"))
		})
	}
}

// TestExamplesOfTests runs the tests that the tree has of its own pipelines.
func TestExamplesOfTests(t *testing.T) {
	t.Parallel()
	p := &paper{t: t}
	out := p.run("test", example("kmeans-study"), filepath.Join("..", "..", "pipelines.test.hcl"))
	if !bytes.Contains(out, []byte("11 tests: 11 passed")) {
		t.Errorf("%s", out)
	}
}

// aloneVars are what examples without defaults need.
var aloneVars = map[string][]string{
	"run_train.hcl":  {"--var", "assets=assets"},
	"own_nq.hcl":     {"--var", `train=["a.jsonl.gz"]`, "--var", `dev=["b.jsonl.gz"]`, "--var", "pages=revisions.csv"},
	"own_corpus.hcl": {"--var", `documents=["d.tsv"]`, "--var", `queries=["q.tsv"]`, "--var", `qrels={train="a.tsv", test="b.tsv"}`},
}

// TestReproductionIsListed: docs/reproduction.md names every table and figure of
// the paper's pipeline with its label in the paper, no other, and every example.
func TestReproductionIsListed(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "reproduction.md"))
	testkit.None(t, err)
	all := loadPaper(t, nil)
	maps.Copy(all, loadPaper(t, nil, "scale", "sample", "contact", "me@example.org"))
	blocks := map[string]bool{}
	for address, task := range all {
		if strings.HasPrefix(address, "step.") {
			continue
		}
		blocks[address] = true
		var config struct{ Paper string }
		testkit.None(t, json.Unmarshal(task.Config, &config))
		label := config.Paper
		if !strings.HasPrefix(label, "tab:") && !strings.HasPrefix(label, "fig:") {
			label = address
		}
		for _, name := range []string{"`" + address + "`", label} {
			if !bytes.Contains(doc, []byte(name)) {
				t.Errorf("docs/reproduction.md does not name %s of %s", name, address)
			}
		}
	}
	listed, _, _ := bytes.Cut(doc, []byte("## What a full run costs"))
	for _, m := range regexp.MustCompile("`((?:table|figure)[.][a-z0-9_]+)`").FindAllSubmatch(listed, -1) {
		if !blocks[string(m[1])] {
			t.Errorf("docs/reproduction.md names %s, which pipelines.hcl does not have", m[1])
		}
	}
	files, err := filepath.Glob(example("*"))
	testkit.None(t, err)
	for _, f := range files {
		if strings.HasSuffix(f, "redsi.lock") || strings.HasSuffix(f, ".lock.lock") {
			continue // which runs in the tree leave
		}
		if link := "(../examples/" + filepath.Base(f); !bytes.Contains(doc, []byte(link)) {
			t.Errorf("docs/reproduction.md has no link to %s", f)
		}
	}
}

// TestPublishedPackage: the example reads what the paper's pipeline exports in the layout in
// which NQ320K was published, and makes the identifiers that the export has.
func TestPublishedPackage(t *testing.T) {
	t.Parallel()
	p := newPaper(t)
	p.args = append(p.args, "--var", "toy_pages=12")
	const address = `step.export.nq320k["title/nci_norm"]`
	p.run("run", "--quiet", "--out", p.out, "-t", address)
	folder := t.TempDir()
	for _, name := range nq320k.Files() {
		from := filepath.Join(p.outputs(address), "files", "data", "ncinorm", "ncititle", name)
		testkit.None(t, os.Rename(from, filepath.Join(folder, name)))
	}
	src, err := os.ReadFile(example("published_package.hcl"))
	testkit.None(t, err)
	beside := filepath.Join(p.args[1], "..", "examples")
	testkit.None(t, os.Mkdir(beside, 0o755))
	testkit.None(t, os.Symlink(filepath.Join(p.args[1], "assets"), filepath.Join(beside, "..", "assets")))
	file := filepath.Join(beside, "published_package.hcl")
	testkit.Write(t, file, src)
	e := &paper{t: t, args: []string{"-f", file, "--state", p.args[3], "--var", "published=" + folder, "--var", "pretrained=false"}}
	var got planned
	e.json(&got, "plan", "--json", "-t", "table.published")
	if want := []string{"step.download.published", "step.download.t5_tokenizer", "step.random_t5.tiny[\"tiny\"]"}; !slices.Equal(slices.Sorted(slices.Values(got.with("run", "hit"))), want) {
		t.Errorf("runs or has %v, want %v", got.with("run", "hit"), want)
	}
	e.run("run", "--quiet", "--out", p.out, "-t", "step.naive_ids.published")
	var have nq320k.Contents
	testkit.None(t, json.Unmarshal(e.run("artifacts", "cat", "step.package.published.report"), &have))
	if have.Documents < 10 || have.Train != 48 || have.Dev != 12 || have.WithoutText != 0 || have.TextStyle != "ncinorm" {
		t.Errorf("%+v", have)
	}
}

// TestMSMarcoExample: what needs no libtorch of the example runs on the files beside it, and names
// documents as MS MARCO does; models and the table are all that is left.
func TestMSMarcoExample(t *testing.T) {
	t.Parallel()
	p := newPaper(t)
	folder := filepath.Join(filepath.Dir(p.args[1]), "examples") // its paths begin beside the assets of the pipeline
	src, err := os.ReadFile(example("msmarco.hcl"))
	testkit.None(t, err)
	testkit.None(t, errors.Join(os.Rename(p.args[1], folder), os.Rename(filepath.Join(folder, "assets"), filepath.Join(folder, "..", "assets")),
		os.WriteFile(filepath.Join(folder, "msmarco.hcl"), src, 0o644), os.CopyFS(filepath.Join(folder, "msmarco"), os.DirFS(example("msmarco")))))
	p.args[1] = filepath.Join(folder, "msmarco.hcl")
	verb := []string{"run", "--quiet", "--out", p.out}
	for _, name := range []string{"import_corpus.documents", "atomic_ids.documents", "naive_ids.documents", "semantic_ids.documents", "export.msmarco"} {
		verb = append(verb, "-t", "step."+name)
	}
	p.run(verb...)
	var got planned
	p.json(&got, "plan", "--json")
	for _, s := range got.Steps {
		left := s.Address == "table.msmarco" || slices.Contains([]string{"random_t5", "train", "evaluate"}, s.Kind)
		if (s.Outcome == "hit") == left {
			t.Errorf("%s is %s", s.Address, s.Outcome)
		}
	}
	var report struct {
		Dev struct {
			Asked   int `json:"queries_asked"`
			Several int `json:"queries_of_several_documents"`
		}
	}
	p.artifact(&report, `step.import_corpus.documents["exact"].report`)
	qrels := string(p.run("artifacts", "cat", "step.export.msmarco.files/trec/qrels.dev.txt"))
	if n := strings.Count(qrels, "\n"); n == 0 || n != report.Dev.Asked+report.Dev.Several || !regexp.MustCompile(`^([0-9]+ 0 D[0-9]+ 1\n)+$`).MatchString(qrels) {
		t.Errorf("%d judgments of %+v:\n%.200s", n, report.Dev, qrels)
	}
}

// TestKindsReference compares docs/kinds with what the kinds say of themselves.
func TestKindsReference(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	(&paper{t: t}).run("kinds", "--markdown", dir)
	pages := func(dir string) map[string]string {
		names, err := filepath.Glob(dir + "/*")
		testkit.None(t, err)
		found := map[string]string{}
		for _, name := range names {
			b, err := os.ReadFile(name)
			testkit.None(t, err)
			found[filepath.Base(name)] = string(b)
		}
		return found
	}
	if d := cmp.Diff(pages(dir), pages("../../docs/kinds")); d != "" {
		t.Errorf("docs/kinds is not what the kinds say of themselves; run `make docs`:\n%s", d)
	}
}

// TestMap: the head of pipelines.hcl names the sections of each file in their order, each
// with its tables and figures.
func TestMap(t *testing.T) {
	t.Parallel()
	files := paperSources(t)
	head, rest, _ := strings.Cut(string(files[syntax.DefaultFile]), "\n\n")
	files[syntax.DefaultFile] = []byte(rest)
	for name, src := range files {
		_, part, ok := strings.Cut(head, "\n# "+name)
		if !ok {
			t.Fatalf("the map at the head of pipelines.hcl does not name %s", name)
		}
		for _, m := range regexp.MustCompile(`(?m)^# --- ([^-(]*[^-( ]).* -+$|^(?:table|figure) "(\w+)"`).FindAllStringSubmatch(string(src), -1) {
			at := regexp.MustCompile(`\b` + m[1] + m[2] + `\b`).FindStringIndex(part)
			if at == nil {
				t.Fatalf("the map at the head of pipelines.hcl does not name %q of %s, or not in this place", m[1]+m[2], name)
			}
			part = part[at[1]:]
		}
	}
}

// TestPostgreSQLExample: the study runs at scale quick, whole where there is libtorch and
// with its models, and its baselines score what docs/studies.md says.
func TestPostgreSQLExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &paper{t: t, out: filepath.Join(dir, "results"),
		args: []string{"-f", example(filepath.Join("postgresql", "pipelines.hcl")), "--state", filepath.Join(dir, "state")}}
	verb := []string{"run", "--quiet", "--out", p.out}
	baselines := map[string]float64{"bm25": 57.3, "bm25_expanded": 59.7}
	p.run(verb...)
	for name, want := range baselines {
		var report struct {
			Queries int
			Percent map[string]float64
		}
		p.artifact(&report, `step.score.manual["`+name+`"].report`)
		if got := report.Percent["ndcg_10"]; report.Queries != 376 || got < want-0.05 || got > want+0.05 {
			t.Errorf("%s: %d queries, nDCG@10 %.2f, want %.1f", name, report.Queries, got, want)
		}
	}
	b, err := os.ReadFile(filepath.Join(p.out, "tables", "systems.json"))
	testkit.None(t, err)
	var table struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(b, &table); err != nil || len(table.Rows) != 9 {
		t.Errorf("%d rows, %v", len(table.Rows), err)
	}
}

// TestPostgreSQLExampleAtFullScale: what it trains is what the documentation names, from the
// files of the encoder that it was measured with.
func TestPostgreSQLExampleAtFullScale(t *testing.T) {
	t.Parallel()
	p := &paper{t: t, args: []string{"-f", example(filepath.Join("postgresql", "pipelines.hcl")), "--state", t.TempDir(), "--var", "scale=full"}}
	var got planned
	p.json(&got, "plan", "--json")
	var trained []string
	for _, s := range got.Steps {
		if s.Kind == "train" {
			trained = append(trained, strings.TrimSuffix(strings.TrimPrefix(s.Address, `step.train.manual["`), `"]`))
		}
	}
	slices.Sort(trained)
	testkit.Deep(t, trained, []string{"atomic", "dsi_qg", "naive", "said", "semantic", "title"}, "trains")
}

// TestOwnKind builds examples/own-kind, a module of its own, against this tree, and has it
// do what redsi does, with a kind that this tree does not have.
func TestOwnKind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testkit.None(t, os.CopyFS(filepath.Join(dir, "own"), os.DirFS(example("own-kind"))))
	program := filepath.Join(dir, "own-redsi")
	for path, pkg := range map[string]string{program: ".", filepath.Join(dir, compute.Name): "./models"} {
		build := exec.Command("go", "build", "-ldflags=-w", "-o", path, pkg)
		build.Dir = example("own-kind")
		if path == program {
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	own := func(code int, want string, args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = filepath.Join(dir, "own")
		cmd.Env = append(os.Environ(), compute.Variable+"=") // what lies beside it
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(string(out), want) {
			t.Errorf("%v: exit %d instead of %d, or no %q:\n%s", args, got, code, want, out)
		}
	}
	file := func(name string) string { return filepath.Join(dir, "own", name) }
	own(fault.CodeOK, "artifact of type files, required", "kinds", "word_count")
	own(fault.CodeOK, "is valid", "validate")
	own(fault.CodeOK, "6 steps: 0 hit, 6 ran", "run")
	own(fault.CodeOK, "6 steps: 6 hit", "plan", "--detailed-exitcode")
	own(fault.CodeOK, "12 results", "verify")

	// Another file: the one that stayed is not counted again.
	testkit.Write(t, file("letters/second.txt"), "It has words\nto be counted again.\n")
	own(fault.CodeOK, "all.words: paper 12, rebuilt 13", "run")
	own(fault.CodeOK, "21 results", "verify") // 12 before; a download, its one file, two counts with one file each, a longest word, two tables

	b, err := os.ReadFile(file("pipelines.hcl"))
	testkit.None(t, err)
	testkit.Write(t, file("pipelines.hcl"), strings.Replace(string(b), "letters  =", "leters   =", 1))
	own(fault.CodeInput, `Did you mean "letters"?`, "validate")
}
