package kinds_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/mediawiki/wikitest"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
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
		testkit.None(t, testkit.Err(w.Write(b)))
		testkit.None(t, w.Close())
		b = z.Bytes()
	}
	path := filepath.Join(dir, name)
	testkit.Write(t, path, b)
	return path
}

func testdata(t *testing.T, parts ...string) string {
	t.Helper()
	path := testkit.Value(filepath.Abs(filepath.Join(append([]string{"..", "internal"}, parts...)...)))(t)
	return path
}

func list(paths ...string) string {
	b, _ := json.Marshal(paths) // strings always marshal
	return string(b)
}

// groupCounts are the counts of a dedup step.
type groupCounts struct {
	Documents  dedup.Counts
	Resolution dedup.Resolution
}

// TestRealPages: pipelines.hcl on real pages in NQ's format, with the real BERT.
// Two independent programs made the counts. H1-Cased and Text4K-Cased were not
// counted; the real pages have no case that would tell them apart from these.
func TestRealPages(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputsOf(l.part(realData(t), "step.dedup.nq", "step.compare_formats.train"))
	for key, want := range map[string][3]float64{
		"text4k": {10, 6, 11}, "url": {10, 8, 13}, "url_title_cased": {5, 4, 6}, "url_title": {5, 4, 6},
		"h1_cased": {5, 4, 6}, "h1": {5, 4, 6}, "nci_h1": {5, 4, 6}, "title": {5, 4, 6}, "page_id": {5, 5, 6},
	} {
		l.says(out[`step.dedup.nq["`+key+`"].counts`], map[string]any{"documents.train": want[0], "documents.dev": want[1], "documents.union": want[2],
			"resolution.revisions": 13., "resolution.resolved_revisions": 12., "resolution.unresolved_records": 3.})
	}
	l.says(out["step.compare_formats.train.report"], map[string]any{"both": 39., "same": 39.})
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
	cut := readFile(t, bad)
	broken := filepath.Join(dir, "nq-train-08.jsonl.gz") // ends within the stream, after its first lines
	testkit.Write(t, broken, cut[:len(cut)*9/10])
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
	testkit.Deep(t, of, want)
	l.counted(res, map[string]int64{"skipped": 4, "skipped_json": 1, "skipped_offset": 1})
	// A file that ends early is not a bad record: nobody knows what it had.
	_, err := l.try(l.plan(file, map[string]string{"files": list(bad, broken), "policy": "skip"}))
	testkit.ErrSays(t, err, "nq-train-08.jsonl.gz:", "damaged or ends early", "records")

	_, err = l.try(l.plan(file, map[string]string{"files": list(bad), "policy": "fail"}))
	testkit.ErrSays(t, err, "nq-train-07.jsonl.gz:2:", "(json)")
}

// simple is a line of the simplified format.
func simple(id int64, url, text string) string {
	line, _ := json.Marshal(map[string]any{"example_id": id, "question_text": "who", "document_url": url, "document_text": text}) // always marshals
	return string(line) + "\n"
}

const foxURL = "https://en.wikipedia.org//w/index.php?title=Fox&amp;oldid=17"

// TestRepeatedExamples: an example that is in two files is a bad record of the
// later one, and both streams lose it.
func TestRepeatedExamples(t *testing.T) {
	dir := t.TempDir()
	files := list(
		write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "first")+simple(2, foxURL, "second")),
		write(t, dir, "nq-train-01.jsonl.gz", simple(3, foxURL, "third")+simple(2, foxURL, "second again")+simple(4, foxURL, "fourth")),
		write(t, dir, "nq-train-02.jsonl.gz", simple(5, foxURL, "fifth")),
	)
	file := write(t, dir, "p.hcl", badPipeline+`
step "serialize" "all" {
  records = step.extract.train.records
  form    = "simplified"
}
step "dedup" "url" {
  train = step.extract.train.headers
  key   = "url"
}
`)
	l := newLocal(t)
	_, err := l.try(l.plan(file, map[string]string{"files": files, "policy": "fail"}))
	testkit.ErrSays(t, err, "nq-train-01.jsonl.gz:2: example_id 2: the example is in nq-train-00.jsonl.gz already")
	all := l.results(file, map[string]string{"files": files, "policy": "skip"})
	l.counted(all["step.extract.train"], map[string]int64{"records": 5, "skipped_duplicate": 1, "skipped": 1})
	l.counted(all["step.serialize.all"], map[string]int64{"documents": 5})
	l.counted(all["step.dedup.url"], map[string]int64{"records": 5})
}

// TestUnusableRecords: what would fail a later step is a bad record already here,
// where it can be skipped.
func TestUnusableRecords(t *testing.T) {
	dir := t.TempDir()
	plain := "https://example.org/fox"
	path := write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "good")+simple(2, foxURL, " ")+simple(3, "", "no url")+simple(4, plain, "no title")+simple(1, foxURL, "again"))
	file := write(t, dir, "p.hcl", strings.Replace(badPipeline, "on_bad_record", `require = ["title", "oldid"]
  on_bad_record`, 1))
	l := newLocal(t)
	res := l.results(file, map[string]string{"files": list(path), "policy": "skip"})["step.extract.train"]
	l.counted(res, map[string]int64{"records": 1, "skipped_unusable": 3, "skipped_duplicate": 1})
	text := string(l.bytes(res.Outputs["report"]))
	testkit.Says(t, text, "document_url names no title", `"example_id": 2`)
	testkit.ErrSays(t, testkit.Err(l.try(l.plan(file, map[string]string{"files": list(path), "policy": "fail"}))), "nq-train-00.jsonl.gz:2: example_id 2: the document has no text (unusable)")
}

// TestHeadless: records without heading are one document under the keys of headings,
// and counted among what tables read.
func TestHeadless(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "no heading")+simple(2, foxURL, "<H1> Fox </H1> x")+simple(3, foxURL, "none here"))
	file := write(t, dir, "p.hcl", badPipeline+`
step "dedup" "nq" {
  for_each = toset(["h1", "url"])
  train    = step.extract.train.headers
  key      = each.key
}
`)
	l := newLocal(t)
	all := l.results(file, map[string]string{"files": list(path), "policy": "fail"})
	for key, want := range map[string]any{"h1": 2., "url": nil} {
		res := all[`step.dedup.nq["`+key+`"]`]
		l.says(res.Outputs["counts"], map[string]any{"records_without_heading": want})
		if _, counted := res.Counts["records_without_heading"]; counted != (want != nil) {
			t.Errorf("%s: %v", key, res.Counts)
		}
	}
}

// TestText4KTokens: the text keys compare the text tokens, or the tags too.
func TestText4KTokens(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "<P> Fox </P>")+simple(2, foxURL, "<Td> Fox </Td>")+
		simple(3, foxURL, "<P> fox </P>")+simple(4, foxURL, "Hen"))
	l := newLocal(t)
	for tokens, want := range map[string]map[string]float64{
		"null":          {"text4k": 2, "text4k_cased": 3},
		`"text_tokens"`: {"text4k": 2, "text4k_cased": 3},
		`"all_tokens"`:  {"text4k": 3, "text4k_cased": 4},
	} {
		file := write(t, dir, "p.hcl", strings.Replace(badPipeline, "on_bad_record", "text4k = "+tokens+"\n  on_bad_record", 1)+`
step "dedup" "nq" {
  for_each = toset(["text4k", "text4k_cased"])
  train    = step.extract.train.headers
  key      = each.key
}
`)
		out := l.outputs(file, map[string]string{"files": list(path), "policy": "fail"})
		for key, n := range want {
			l.says(out[`step.dedup.nq["`+key+`"].counts`], map[string]any{"documents.union": n})
		}
	}
}

// TestEmptyFiles: a file without records is an error, or counted and named.
func TestEmptyFiles(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "p.hcl", badPipeline)
	good := write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "good"))
	for i, text := range []string{"", "\n\n"} {
		for _, name := range []string{"nq-train-01.jsonl", "nq-train-01.jsonl.gz"} {
			empty := write(t, dir, name, text)
			l := newLocal(t)
			_, err := l.try(l.plan(file, map[string]string{"files": list(good, empty), "policy": "fail"}))
			testkit.ErrSays(t, err, name+":"+fmt.Sprint(2*i+1)+": the file has no records (empty-file)")
			res := l.results(file, map[string]string{"files": list(good, empty), "policy": "skip"})["step.extract.train"]
			l.counted(res, map[string]int64{"skipped_empty_file": 1, "records": 1})
		}
	}
}

// What each key needs is asked for when the pipeline is read.
func TestDedupNeeds(t *testing.T) {
	some := step.In(artifacts.Artifact{Type: "files"})
	for _, c := range []struct {
		want   string // "" if nothing is missing
		config map[string]any
	}{
		{"", map[string]any{"key": "url"}},
		{"", map[string]any{"key": "h1", "fallback": "title"}},
		{"tokenizer: is needed by key title", map[string]any{"key": "title"}},
		{"tokenizer: is needed by key nci_h1", map[string]any{"key": "nci_h1"}},
		{"", map[string]any{"key": "title", "tokenizer": some}},
		{"pages: is needed by key page_id", map[string]any{"key": "page_id"}},
		{"", map[string]any{"key": "page_id", "pages": some}},
		{"tokenizer: is needed by fallback title", map[string]any{"key": "page_id", "fallback": "title", "pages": some}},
		{"", map[string]any{"key": "page_id", "fallback": "title", "pages": some, "tokenizer": some}},
		{"texts: is needed", map[string]any{"key": "corpus_text"}},
		{"texts: is needed", map[string]any{"key": "url", "representative": "longest_text"}},
		{"", map[string]any{"key": "url", "representative": "longest_text", "texts": some}},
	} {
		mistakes(t, "dedup", map[string]any{"train": []any{some}}, map[string]map[string]any{c.want: c.config})
	}
}

const hubPipeline = `
variable "dir" { type = string }
locals {
  files = { lines = "hub.jsonl.gz", hub = "hub.parquet" }
}
step "extract" "nq" {
  for_each = local.files
  files    = step.download.nq[each.key].files
  split    = "dev"
  require  = ["title", "oldid"]
}
step "download" "nq" {
  for_each = merge(local.files, { simplified = "nq-simplified-walking-dead.jsonl.gz" })
  urls     = ["${var.dir}/${each.value}"]
}
step "format_fields" "nq" {
  for_each = local.files
  full     = step.download.nq[each.key].files
}
step "format_example" "nq" {
  for_each   = local.files
  full       = step.download.nq[each.key].files
  simplified = step.download.nq["simplified"].files
}
`

// TestExtractFromTheHub: of Parquet as datasets writes it the artifacts are those of the original lines, by name and byte; only the
// report's bytes tell which was read.
func TestExtractFromTheHub(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	out := l.outputs(write(t, t.TempDir(), "p.hcl", hubPipeline), map[string]string{"dir": testdata(t, "corpora", "nq", "testdata")})
	of := func(step, key, output string) artifacts.Artifact { return out["step."+step+`["`+key+`"].`+output] }
	for _, c := range []struct{ step, output string }{
		{"extract.nq", "records"}, {"extract.nq", "headers"}, {"format_fields.nq", "report"}, {"format_example.nq", "report"},
	} {
		lines, hub := of(c.step, "lines", c.output), of(c.step, "hub", c.output)
		if d := cmp.Diff(lines, hub); d != "" || lines.Size == 0 {
			t.Errorf("%s.%s: %s", c.step, c.output, d)
		}
	}
	var lines, hub nq.Counts
	l.json(of("extract.nq", "lines", "report"), &lines)
	l.json(of("extract.nq", "hub", "report"), &hub)
	lines.BytesIn, lines.BytesOut = hub.BytesIn, hub.BytesOut
	if d := cmp.Diff(lines, hub); d != "" || hub.Records != 5 {
		t.Error(d, hub.Records)
	}
}

const firstRecords = `
variable "file" {}
step "download" "nq" { urls = [var.file] }
step "format_fields" "nq" {
  full  = step.download.nq.files
  lines = 1
}
step "format_example" "nq" {
  full       = step.download.nq.files
  simplified = step.download.nq.files
}
`

// TestFirstRecordsAreVerified: a kind that needs the first records alone trusts none of
// a file that is damaged behind them.
func TestFirstRecordsAreVerified(t *testing.T) {
	l := newLocal(t)
	store := testkit.Value(dir.Open(t.TempDir()))(t)
	l.Store = artifacts.Alone(store)
	file := write(t, t.TempDir(), "p.hcl", firstRecords)
	vars := map[string]string{"file": testdata(t, "corpora", "nq", "testdata", "real-pages-dev-full.jsonl.gz")}
	for _, target := range []string{"step.format_fields.nq", "step.format_example.nq"} {
		got := l.run(l.plan(file, vars, "step.download.nq"))[0].Outputs["files"].Files[0] // anew: a damaged blob is dropped
		path, _ := l.Store.Own.Blobs.(artifacts.Local).LocalPath(got.Digest)
		b, err := os.ReadFile(path)
		testkit.None(t, err)
		b[len(b)-1] ^= 1
		testkit.None(t, errors.Join(os.Remove(path), os.WriteFile(path, b, 0o444)))
		if _, err = l.try(l.plan(file, vars, target)); err == nil || !strings.Contains(err.Error(), got.Digest.String()+" is corrupt") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestFirstRecordsAreReadOnce: who needs the first records takes a file from the store
// once, however many steps do.
func TestFirstRecordsAreReadOnce(t *testing.T) {
	l := newLocal(t)
	file := write(t, t.TempDir(), "p.hcl", firstRecords)
	vars := map[string]string{"file": testdata(t, "corpora", "nq", "testdata", "real-pages-dev-full.jsonl.gz")}
	got := l.run(l.plan(file, vars, "step.download.nq"))[0].Outputs["files"].Files[0]
	passes := 0
	l.Store = artifacts.Alone(storetest.Hooked(l.Store.Own, storetest.Before(func(_ context.Context, c *storetest.Call) error {
		if c.Method == storetest.BlobsOpen && c.Digest == got.Digest {
			passes++
		}
		return nil
	})))
	l.run(l.plan(file, vars))
	testkit.Is(t, passes, 1, "the file was read times from the store")
}

// results runs a pipeline file and returns the results of its steps by address.
func (l *local) results(file string, vars map[string]string, targets ...string) map[string]*artifacts.Result {
	l.t.Helper()
	return l.resultsOf(l.plan(file, vars, targets...))
}

func (l *local) resultsOf(pl *plan.Plan) map[string]*artifacts.Result {
	l.t.Helper()
	all := map[string]*artifacts.Result{}
	for i, r := range l.run(pl) {
		all[pl.Steps[i].Address] = r
	}
	return all
}

// realData are the variables of pipelines.hcl for real pages in NQ's format.
func realData(t *testing.T) map[string]string {
	t.Helper()
	nqData := testdata(t, "corpora", "nq", "testdata")
	return map[string]string{
		"scale":         "full",
		"nq_train":      list(filepath.Join(nqData, "real-pages-train-full.jsonl.gz")),
		"nq_dev":        list(filepath.Join(nqData, "real-pages-dev-full.jsonl.gz")),
		"nq_simplified": list(filepath.Join(nqData, "real-pages-train-simplified.jsonl.gz")),
		"stub_dump":     list(testdata(t, "corpora", "wikipedia", "testdata", "real-pages-stub.xml.gz")),
	}
}

// TestDumpPartWithoutWanted: a part of a dump that has none of the revisions is an
// empty part, and counted; so is a dump without any.
func TestDumpPartWithoutWanted(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	vars := realData(t)
	alone := l.resultsOf(l.part(vars, `step.dedup.nq["page_id"]`))
	other := testdata(t, "corpora", "wikipedia", "testdata", "stub-history-sample.xml.gz")
	vars["stub_dump"] = list(testdata(t, "corpora", "wikipedia", "testdata", "real-pages-stub.xml.gz"), other)
	both := l.resultsOf(l.part(vars, `step.dedup.nq["page_id"]`))
	if a, b := alone[`step.pages.nq["dump"]`].Outputs["table"], both[`step.pages.nq["dump"]`].Outputs["table"]; a.Digest != b.Digest {
		t.Error("a part without wanted revisions changed the table")
	}
	l.counted(both[`step.pages.nq["dump"]`], map[string]int64{"dump_files": 2, "dump_files_without_wanted_revisions": 1, "revisions_wanted": 13, "revisions_found": 12})
	vars["stub_dump"] = list(other)
	none := l.resultsOf(l.part(vars, `step.dedup.nq["page_id"]`))
	l.counted(none[`step.dedup.nq["page_id"]`], map[string]int64{"unresolved_records": 50}) // all of them
	l.counted(none[`step.pages.nq["dump"]`], map[string]int64{"revisions_found": 0})
}

// TestForeignFiles: what people give in place of a dump or of records is named, with
// what to do, and no retry is tried.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string { // as it is, whatever its name says
		path := filepath.Join(dir, name)
		testkit.Write(t, path, text)
		return path
	}
	sevenZip := "7z\xbc\xaf\x27\x1c\x00\x04\xe9\xff\xfe\x80" + strings.Repeat("\xff\x00", 500)
	for name, c := range map[string]struct{ path, want string }{
		"7z":         {put("stub.xml.7z", sevenZip), "stub.xml.7z: at byte 0 of the text: the input cannot be opened: the file is a 7z archive: unpack it"},
		"7z renamed": {put("stub.xml.gz", sevenZip), "is a 7z archive"},
		"zip":        {put("stub.zip", "PK\x03\x04\x14\x00\xff\xfe"), "is a zip archive"},
		"error page": {write(t, dir, "page.xml.gz", "<!DOCTYPE html><html><body>503</body></html>"), "is an HTML page"},
		"not XML":    {put("stub.bin", "\xff\xfe\x80 bytes"), `it begins with "\xff\xfe\x80 bytes"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLocal(t)
			vars := realData(t)
			vars["stub_dump"] = list(c.path)
			_, err := l.try(l.part(vars, "step.pages.nq"))
			if !isPermanent(err) || !strings.Contains(err.Error(), c.want) || !utf8.ValidString(err.Error()) {
				t.Errorf("%q, want %q, and no retry", err, c.want)
			}
		})
	}
	table := put("pages.csv", "")
	testkit.ErrSays(t, testkit.Err(newLocal(t).try(newLocal(t).plan(filepath.Join("..", "examples", "own_nq.hcl"), map[string]string{
		"train": realData(t)["nq_train"], "dev": realData(t)["nq_dev"], "pages": table}, "step.page_table.nq"))), "pages.csv: the table has no revisions")
}

// released are the lines of a table of pages as the paper's released code has them.
func (l *local) released(table artifacts.Artifact) (lines []string) {
	l.t.Helper()
	for line := range bytes.Lines(l.bytes(table)) {
		var e struct {
			OldID  uint64 `json:"oldid"`
			PageID uint64 `json:"page_id"`
		}
		testkit.None(l.t, json.Unmarshal(line, &e))
		lines = append(lines, fmt.Sprintf(`{"oldid": %d, "pageid": %d}`+"\n", e.OldID, e.PageID))
	}
	return lines
}

// TestPageTable: a table in place of the dump gives the same documents, on the generated
// corpus too; beside the dump it is compared with it.
func TestPageTable(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	vars := map[string]string{"scale": "toy"}
	targets := []string{`step.dedup.nq["page_id"]`, "step.dedup_diagnostics.nq"}
	dump := l.outputsOf(l.part(vars, targets...))
	lines := l.released(dump[`step.pages.nq["dump"].table`])

	vars["page_table"] = list(write(t, t.TempDir(), "oldid_pageid.jsonl.gz", strings.Join(lines, "")))
	table := l.outputsOf(l.part(vars, targets...))
	for _, name := range []string{`step.dedup.nq["page_id"].documents`, `step.dedup.nq["page_id"].queries`, `step.dedup.nq["page_id"].counts`,
		`step.dedup.nq["page_id"].unresolved`, "step.dedup_diagnostics.nq.report"} {
		if a, b := dump[name], table[name]; a.Size == 0 || a.Digest != b.Digest {
			t.Errorf("%s: %s with the dump, %s with the table", name, a.Digest, b.Digest)
		}
	}
	if _, ok := table[`step.pages.nq["dump"].table`]; ok {
		t.Error("the dump is read beside the table")
	}

	// Of a table that differs, the first line is missing, the second is of another page, the
	// third is there twice, and the last is of a revision that nobody asked for.
	var second struct{ OldID, PageID uint64 }
	testkit.None(t, json.Unmarshal([]byte(lines[1]), &second))
	changed := fmt.Sprintf(`{"oldid":%d,"pageid":%d}`+"\n", second.OldID, second.PageID+1_000_000)
	other := changed + lines[2] + strings.Join(lines[2:], "") + `{"oldid":999999999999,"pageid":1}`
	vars["page_table"], vars["compare_pages"] = list(write(t, t.TempDir(), "other.jsonl", other)), "true"
	both := l.resultsOf(l.part(vars, append(targets, "step.compare_pages.nq")...))
	compared := both[`step.compare_pages.nq["table"]`]
	l.counted(compared, map[string]int64{"same": int64(len(lines)) - 2, "different": 1, "only_a": 1, "only_b": 1})
	l.counted(both[`step.page_table.nq["table"]`], map[string]int64{"repeated": 1})
	var rep wikipedia.Comparison
	want := []wikipedia.Disagreement{{OldID: second.OldID, A: second.PageID, B: second.PageID + 1_000_000}}
	if l.json(compared.Outputs["report"], &rep); !slices.Equal(rep.DifferentExamples, want) {
		t.Errorf("examples %+v", rep.DifferentExamples)
	}
	var whole, fewer groupCounts
	l.json(dump[`step.dedup.nq["page_id"].counts`], &whole)
	l.json(both[`step.dedup.nq["page_id"]`].Outputs["counts"], &fewer)
	if fewer.Resolution.Resolved != whole.Resolution.Resolved-1 ||
		fewer.Resolution.UnresolvedRecords <= whole.Resolution.UnresolvedRecords {
		t.Errorf("without a revision %+v, with it %+v", fewer.Resolution, whole.Resolution)
	}
	// Two files that disagree are refused.
	vars["page_table"] = list(write(t, t.TempDir(), "a.jsonl", lines[1]), write(t, t.TempDir(), "b.jsonl", changed))
	testkit.ErrSays(t, testkit.Err(l.try(l.part(vars, "step.page_table.nq"))), "the files of table disagree: revision")
}

// TestPagesAPI: the wiki in place of the dump gives the same documents; what it does not have
// falls back, and is counted; another file of records asks for its own revisions only.
func TestPagesAPI(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	vars := realData(t)
	targets := []string{`step.dedup.nq["page_id"]`, "step.compare_pages.nq"}
	dump := l.resultsOf(l.part(vars, targets[0]))
	wiki := &wikitest.Wiki{Name: "enwiki", Pages: map[uint64]wikipedia.Entry{}}
	for line := range strings.Lines(string(l.bytes(dump[`step.pages.nq["dump"]`].Outputs["table"]))) {
		var e wikipedia.Entry
		testkit.None(t, json.Unmarshal([]byte(line), &e))
		e.Target = "" // the API does not say
		wiki.Pages[e.OldID] = e
	}
	server := httptest.NewServer(wiki)
	defer server.Close()
	vars["pages_from"], vars["wikipedia_api"], vars["contact"], vars["compare_pages"] = "api", server.URL+"/w/api.php", "me@example.org", "true"
	api := l.resultsOf(l.part(vars, targets...))
	if a, b := dump[targets[0]].Outputs["documents"], api[targets[0]].Outputs["documents"]; a.Digest != b.Digest {
		t.Error("the wiki gives other documents than the dump")
	}
	if why := wiki.Wrong.Load(); why != nil {
		t.Error(*why)
	}
	asked := api[`step.pages_api.nq["api"]`]
	l.counted(api[`step.compare_pages.nq["api"]`], map[string]int64{"same": 12, "different": 0, "only_a": 0, "only_b": 0})
	l.counted(asked, map[string]int64{"revisions_wanted": 13, "revisions_found": 12, "revisions_missing": 1, "moved": 1})
	testkit.Is(t, strings.Count(string(l.bytes(asked.Outputs["asked"])), "\n"), 13, "revisions asked")
	before := wiki.Requests.Load()
	nqData := testdata(t, "corpora", "nq", "testdata")
	vars["nq_train"] = list(filepath.Join(nqData, "real-pages-train-full.jsonl.gz"), filepath.Join(nqData, "real-pages-dev-full.jsonl.gz"))
	l.resultsOf(l.part(vars, targets[0]))
	if n := wiki.Requests.Load(); before != 2 || n != 3 {
		t.Errorf("%d requests for two files of records, %d with a third", before, n)
	}
}
