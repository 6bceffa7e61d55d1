package kinds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/wikipedia"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

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
	want := map[string]int64{"dump_files": 2, "dump_files_without_wanted_revisions": 1, "revisions_wanted": 13, "revisions_found": 12}
	for name, n := range want {
		if got := both[`step.pages.nq["dump"]`].Counts[name]; got != n {
			t.Errorf("%s: %d, want %d", name, got, n)
		}
	}
	vars["stub_dump"] = list(other)
	none := l.resultsOf(l.part(vars, `step.dedup.nq["page_id"]`))
	if n := none[`step.dedup.nq["page_id"]`].Counts["unresolved_records"]; n != 50 {
		t.Errorf("%d records are unresolved, want all 50", n)
	}
	if n := none[`step.pages.nq["dump"]`].Counts["revisions_found"]; n != 0 {
		t.Errorf("%d revisions found", n)
	}
}

// TestForeignFiles: what people give in place of a dump or of records is named, with
// what to do, and no retry is tried.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		filetest.Write(t, path, text)
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
			if err == nil || !strings.Contains(err.Error(), c.want) || !utf8.ValidString(err.Error()) {
				t.Errorf("%q, want %q", err, c.want)
			}
			var app *temporal.ApplicationError
			if !errors.As(err, &app) || !app.NonRetryable() {
				t.Errorf("%v would be tried again", err)
			}
		})
	}
	table := put("pages.csv", "")
	errtest.Says(t, errtest.Of(newLocal(t).try(newLocal(t).plan(filepath.Join("..", "examples", "own_nq.hcl"), map[string]string{
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
		errtest.None(l.t, json.Unmarshal(line, &e))
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
	errtest.None(t, json.Unmarshal([]byte(lines[1]), &second))
	changed := fmt.Sprintf(`{"oldid":%d,"pageid":%d}`+"\n", second.OldID, second.PageID+1_000_000)
	other := changed + lines[2] + strings.Join(lines[2:], "") + `{"oldid":999999999999,"pageid":1}`
	vars["page_table"], vars["compare_pages"] = list(write(t, t.TempDir(), "other.jsonl", other)), "true"
	both := l.resultsOf(l.part(vars, append(targets, "step.compare_pages.nq")...))
	compared := both[`step.compare_pages.nq["table"]`]
	for name, n := range map[string]int64{"same": int64(len(lines)) - 2, "different": 1, "only_a": 1, "only_b": 1} {
		if compared.Counts[name] != n {
			t.Errorf("%s: %d, want %d", name, compared.Counts[name], n)
		}
	}
	var rep wikipedia.Comparison
	if l.json(compared.Outputs["report"], &rep); len(rep.DifferentExamples) != 1 ||
		rep.DifferentExamples[0] != (wikipedia.Disagreement{OldID: second.OldID, A: second.PageID, B: second.PageID + 1_000_000}) {
		t.Errorf("examples %+v", rep.DifferentExamples)
	}
	if n := both[`step.page_table.nq["table"]`].Counts["repeated"]; n != 1 {
		t.Errorf("%d repeated lines", n)
	}
	var whole, fewer groupCounts
	l.json(dump[`step.dedup.nq["page_id"].counts`], &whole)
	l.json(both[`step.dedup.nq["page_id"]`].Outputs["counts"], &fewer)
	if fewer.Resolution.Resolved != whole.Resolution.Resolved-1 || fewer.Resolution.Unresolved <= whole.Resolution.Unresolved {
		t.Errorf("without a revision %+v, with it %+v", fewer.Resolution, whole.Resolution)
	}
	// Two files that disagree are refused.
	vars["page_table"] = list(write(t, t.TempDir(), "a.jsonl", lines[1]), write(t, t.TempDir(), "b.jsonl", changed))
	errtest.Says(t, errtest.Of(l.try(l.part(vars, "step.page_table.nq"))), "the files of table disagree: revision")
}
