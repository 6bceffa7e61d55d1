package kinds_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
)

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
	errtest.Says(t, err, "nq-train-01.jsonl.gz:2: example_id 2: the example is in nq-train-00.jsonl.gz already")
	all := l.results(file, map[string]string{"files": files, "policy": "skip"})
	if c := all["step.extract.train"].Counts; c["records"] != 5 || c["skipped_duplicate"] != 1 || c["skipped"] != 1 {
		t.Errorf("counts %v", c)
	}
	if n := all["step.serialize.all"].Counts["documents"]; n != 5 {
		t.Errorf("%d texts of 5 records", n)
	}
	if n := all["step.dedup.url"].Counts["records"]; n != 5 {
		t.Errorf("%d headers of 5 records", n)
	}
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
	if c := res.Counts; c["records"] != 1 || c["skipped_unusable"] != 3 || c["skipped_duplicate"] != 1 {
		t.Errorf("counts %v", c)
	}
	if text := string(l.bytes(res.Outputs["report"])); !strings.Contains(text, "document_url names no title") || !strings.Contains(text, `"example_id": 2`) {
		t.Errorf("report %s", text)
	}
	errtest.Says(t, errtest.Of(l.try(l.plan(file, map[string]string{"files": list(path), "policy": "fail"}))), "nq-train-00.jsonl.gz:2: example_id 2: the document has no text (unusable)")
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
	for key, want := range map[string]string{"h1": `"records_without_heading": 2`, "url": ""} {
		res := all[`step.dedup.nq["`+key+`"]`]
		text := string(l.bytes(res.Outputs["counts"]))
		if _, counted := res.Counts["records_without_heading"]; !strings.Contains(text, want) || strings.Contains(text, "records_without_heading") != counted || counted != (want != "") {
			t.Errorf("%s: %s%v", key, text, res.Counts)
		}
	}
}

// TestText4KTokens: the text keys compare the text tokens, or the tags too.
func TestText4KTokens(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "nq-train-00.jsonl.gz", simple(1, foxURL, "<P> Fox </P>")+simple(2, foxURL, "<Td> Fox </Td>")+
		simple(3, foxURL, "<P> fox </P>")+simple(4, foxURL, "Hen"))
	l := newLocal(t)
	for tokens, want := range map[string]map[string]int{
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
			var got groupCounts
			if l.json(out[`step.dedup.nq["`+key+`"].counts`], &got); got.Documents.Union != n {
				t.Errorf("text4k = %s: %d documents by %s, want %d", tokens, got.Documents.Union, key, n)
			}
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
			errtest.Says(t, err, name+":"+fmt.Sprint(2*i+1)+": the file has no records (empty-file)")
			res := l.results(file, map[string]string{"files": list(good, empty), "policy": "skip"})["step.extract.train"]
			if res.Counts["skipped_empty_file"] != 1 || res.Counts["records"] != 1 {
				t.Errorf("%q: counts %v", text, res.Counts)
			}
		}
	}
}
