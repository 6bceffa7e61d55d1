package kinds_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// outputs runs a pipeline file and returns the artifacts of its steps by
// "address.output".
func (l *local) outputs(file string, vars map[string]string, targets ...string) map[string]artifacts.Artifact {
	l.t.Helper()
	return l.outputsOf(l.plan(file, vars, targets...))
}

func (l *local) outputsOf(pl *plan.Plan) map[string]artifacts.Artifact {
	l.t.Helper()
	all := map[string]artifacts.Artifact{}
	for i, r := range l.run(pl) {
		for name, a := range r.Outputs {
			all[pl.Steps[i].Address+"."+name] = a
		}
	}
	return all
}

// write puts a file into a folder, compressed if its name says so.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	b := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		errtest.None(t, errtest.Of(w.Write(b)))
		errtest.None(t, w.Close())
		b = z.Bytes()
	}
	path := filepath.Join(dir, name)
	filetest.Write(t, path, b)
	return path
}

func testdata(t *testing.T, parts ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "internal"}, parts...)...))
	errtest.None(t, err)
	return path
}

func list(paths ...string) string {
	b, _ := json.Marshal(paths) // strings always marshal
	return string(b)
}

type split struct{ Train, Dev, Union int }

type groupCounts struct {
	Documents  split
	Resolution struct {
		Revisions  int `json:"revisions"`
		Resolved   int `json:"resolved_revisions"`
		Unresolved int `json:"unresolved_records"`
	}
}

// TestRealPages: pipelines.hcl on real pages in NQ's format, with the real BERT.
// Two independent programs made the counts. H1-Cased and Text4K-Cased were not
// counted; the real pages have no case that would tell them apart from these.
func TestRealPages(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputsOf(l.part(realData(t), "step.dedup.nq", "step.compare_formats.train"))
	for key, want := range map[string]split{
		"text4k": {10, 6, 11}, "url": {10, 8, 13}, "url_title_cased": {5, 4, 6}, "url_title": {5, 4, 6},
		"h1_cased": {5, 4, 6}, "h1": {5, 4, 6}, "nci_h1": {5, 4, 6}, "title": {5, 4, 6}, "page_id": {5, 5, 6},
	} {
		var got groupCounts
		l.json(out[`step.dedup.nq["`+key+`"].counts`], &got)
		if got.Documents != want {
			t.Errorf("%s: %+v, want %+v", key, got.Documents, want)
		}
		if r := got.Resolution; r.Revisions != 13 || r.Resolved != 12 || r.Unresolved != 3 {
			t.Errorf("%s: resolution %+v", key, r)
		}
	}
	var same struct{ Both, Same int }
	if l.json(out["step.compare_formats.train.report"], &same); same.Both != 39 || same.Same != 39 {
		t.Errorf("the formats agree on %d of %d examples", same.Same, same.Both)
	}
}

// TestLocalTable: examples/own_nq.hcl resolves through a table as well as
// through the dump that the table was made from.
func TestLocalTable(t *testing.T) {
	t.Parallel()
	full := realData(t)
	l := newLocal(t)
	dump := l.outputsOf(l.part(full, `step.dedup.nq["page_id"]`))
	csv := "page_id,oldid\n"
	for line := range bytes.Lines(l.bytes(dump[`step.pages.nq["dump"].table`])) {
		var e struct {
			OldID  uint64 `json:"oldid"`
			PageID uint64 `json:"page_id"`
		}
		errtest.None(t, json.Unmarshal(line, &e))
		csv += fmt.Sprintf("%d,%d\n", e.PageID, e.OldID)
	}
	table := l.outputs(filepath.Join("..", "examples", "own_nq.hcl"), map[string]string{
		"train": full["nq_train"], "dev": full["nq_dev"], "pages": write(t, t.TempDir(), "revisions.csv.gz", csv),
	})
	for _, output := range []string{"queries", "counts", "unresolved"} {
		a, b := dump[`step.dedup.nq["page_id"].`+output], table[`step.dedup.nq["page_id"].`+output]
		if a.Digest != b.Digest {
			t.Errorf("%s: %s with the dump, %s with the table", output, a.Digest, b.Digest)
		}
	}
}

// badLines are records that cannot be read, beside good ones.
func badLines(t *testing.T) (text string, want map[string]int64) {
	t.Helper()
	good := strings.TrimSpace(string(goldens.Text(t, testdata(t, "corpora", "nq", "testdata", "nq-full-walking-dead.jsonl.gz"))))
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the record has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	tokens := strings.Index(good, `"document_tokens"`)
	lines := []string{
		good,
		good[:len(good)/2],
		swap("Walking Dead", "Walking \xff Dead"),
		good[:tokens] + strings.Replace(good[tokens:], `"end_byte":`, `"end_byte": 99999999, "x":`, 1),
		swap(`"document_url"`, `"document_uri"`),
		swap("4549465242785278785", "4549465242785278786"),
	}
	return strings.Join(lines, "\n") + "\n", map[string]int64{"json": 1, "utf8": 1, "offset": 1, "missing": 1}
}

const badPipeline = `
variable "files" { type = list(string) }
variable "policy" {}
step "download" "nq" { urls = var.files }
step "extract" "train" {
  files         = step.download.nq.files
  split         = "train"
  on_bad_record = var.policy
}
`

// TestBadRecords: a shard with every kind of damage is refused by name, or read
// without it, counted and named.
func TestBadRecords(t *testing.T) {
	dir := t.TempDir()
	text, want := badLines(t)
	bad := write(t, dir, "nq-train-07.jsonl.gz", text)
	cut, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "nq-train-08.jsonl.gz") // ends within the stream, after its first lines
	filetest.Write(t, broken, cut[:len(cut)*9/10])
	file := write(t, dir, "bad.hcl", badPipeline)
	l := newLocal(t)
	res := l.results(file, map[string]string{"files": list(bad), "policy": "skip"})["step.extract.train"]
	var rep struct {
		Records int64
		Skipped map[string]int64
		Named   []struct {
			File      string
			Line      int64
			ExampleID int64 `json:"example_id"`
			Reason    string
			Detail    string
		} `json:"skipped_examples"`
	}
	l.json(res.Outputs["report"], &rep)
	if d := cmp.Diff(want, rep.Skipped); d != "" || len(rep.Named) != 4 || rep.Records != 2 {
		t.Errorf("%s%+v", d, rep)
	}
	of := map[string]int64{}
	for _, n := range rep.Named {
		of[n.Reason]++
		if n.File != "nq-train-07.jsonl.gz" || n.Line < 1 || n.Detail == "" || (n.Reason == "offset" || n.Reason == "missing") && n.ExampleID != 4549465242785278785 {
			t.Errorf("not named well: %+v", n)
		}
	}
	if d := cmp.Diff(want, of); d != "" {
		t.Error(d)
	}
	if res.Counts["skipped"] != 4 || res.Counts["skipped_json"] != 1 || res.Counts["skipped_offset"] != 1 {
		t.Errorf("counts %v", res.Counts)
	}
	// A file that ends early is not a bad record: nobody knows what it had.
	_, err = l.try(l.plan(file, map[string]string{"files": list(bad, broken), "policy": "skip"}))
	errtest.Says(t, err, "nq-train-08.jsonl.gz:", "damaged or ends early", "records")

	_, err = l.try(l.plan(file, map[string]string{"files": list(bad), "policy": "fail"}))
	errtest.Says(t, err, "nq-train-07.jsonl.gz:2:", "(json)")
}

// TestShardsResume: after one of two shards has failed, only that one is read.
func TestShardsResume(t *testing.T) {
	dir := t.TempDir()
	text, _ := badLines(t)
	good, _, _ := strings.Cut(text, "\n")
	first := write(t, dir, "nq-train-00.jsonl.gz", good+"\n")
	second := write(t, dir, "nq-train-01.jsonl.gz", text)
	file := write(t, dir, "bad.hcl", badPipeline)
	vars := map[string]string{"files": list(first, second), "policy": "fail"}
	l := newLocal(t)
	if _, err := l.try(l.plan(file, vars)); err == nil {
		t.Fatal("a bad shard is read")
	}
	l.ran = nil
	write(t, dir, "nq-train-01.jsonl.gz", strings.Replace(good, "4549465242785278785", "5", 1)+"\n")
	errtest.None(t, errtest.Of(l.try(l.plan(file, vars))))
	for _, label := range l.ran {
		if strings.Contains(label, "nq-train-00") {
			t.Errorf("%s ran again", label)
		}
	}
	if len(l.ran) == 0 {
		t.Error("nothing ran")
	}
}
