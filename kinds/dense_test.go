package kinds_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// npyFile is a file of numpy.save.
func npyFile(dtype string, rows, cols int, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", dtype, rows, cols)
	var b bytes.Buffer
	b.WriteString("\x93NUMPY\x01\x00")
	_ = binary.Write(&b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	_ = binary.Write(&b, binary.LittleEndian, numbers)
	return b.Bytes()
}

// TestDense ranks what another program embedded: documents by their names, queries by their
// order, and dense compares them.
func TestDense(t *testing.T) {
	l := newLocal(t)
	_, queries := l.askedOfRivers()
	documents := l.collectionOf("a", "b", "c", "d", "e")
	of := func(config map[string]any) step.Input {
		t.Helper()
		res, err := l.do("import_embeddings", config)
		errtest.None(t, err)
		return step.In(res.Outputs["embeddings"])
	}
	file := func(b []byte) []any { return []any{l.blob("file", b)} }
	first := npyFile("<f8", 4, 2, []float64{9, 9, 0, 2, 1, 0, 1, 0})
	second := npyFile("<f2", 2, 2, []uint16{0x3c00, 0x3c00, 0x4400, 0}) // 1 1, 4 0
	embeddings := of(map[string]any{"documents": documents, "files": []any{l.blob("file", first), l.blob("file", second)},
		"names": file([]byte("none\nb\nc\r\na\ne\nd\n")), "extra": "leave_out"})
	asked := of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 2, []float32{0, 1, 1, 0, 0, 0}))})
	matrix, err := npy.Read(bytes.NewReader(l.bytes(*embeddings.Artifact)))
	if err != nil || fmt.Sprint(matrix.Data) != "[1 0 0 2 1 0 4 0 1 1]" {
		t.Fatalf("%v, %v", matrix, err)
	}
	run, report, err := l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries})
	errtest.None(t, err)
	if run["2"] != "1 4 0 2 3" || run["3"] != "3 0 2 4 1" || run["4"] != "0 1 2 3 4" || report["hits"] != 15. {
		t.Errorf("run %v, report %v", run, report)
	}
	run, _, err = l.ranked("dense", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "similarity": "cosine", "depth": int64(2)})
	if err != nil || run["3"] != "0 2" {
		t.Errorf("cosine: run %v, %v", run, err)
	}

	for _, c := range []struct {
		kind, want string
		config     map[string]any
	}{
		{"dense", "query_embeddings has 3 rows, and there are 1 test queries", map[string]any{"embeddings": embeddings, "query_embeddings": asked, "queries": queries, "split": "test"}},
		{"dense", "have 2 numbers, those of queries 1", map[string]any{"embeddings": embeddings, "queries": queries,
			"query_embeddings": of(map[string]any{"queries": queries, "files": file(npyFile("<f4", 3, 1, []float32{0, 1, 1}))})}},
		{"dense", "document 4 is not one of the 3", map[string]any{"embeddings": asked, "query_embeddings": asked, "queries": queries}},
		{"import_embeddings", `names, line 1: "none" is not a name`, map[string]any{"names": file([]byte("none\n")), "files": file(first)}},
		{"import_embeddings", `names, line 2: "a" is on line 1`, map[string]any{"names": file([]byte("a\na\n")), "files": file(first)}},
		{"import_embeddings", `"a", number 0 of 5, has no vector`, map[string]any{"names": file([]byte("b\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", "row 3: there are only 3 names", map[string]any{"names": file([]byte("b\nc\nd\n")), "files": file(first)}},
		{"import_embeddings", "5 names and 4 rows", map[string]any{"names": file([]byte("a\nb\nc\nd\ne\n")), "files": file(first)}},
		{"import_embeddings", `"e", number 4 of 5, has no vector: the files have 4 rows`, map[string]any{"files": file(first)}},
		{"import_embeddings", "row 5: there are 5", map[string]any{"files": file(npyFile("<f4", 6, 1, make([]float32, 6)))}},
		{"import_embeddings", "files: row 1, column 1 is +Inf", map[string]any{"files": file(npyFile("<f8", 5, 2, []float64{1, 1, 1, 1e99, 1, 1, 1, 1, 1, 1}))}},
		{"import_embeddings", "dtype <i4", map[string]any{"files": file(npyFile("<i4", 5, 1, make([]int32, 5)))}},
		{"import_embeddings", "rows have 1 numbers, those of the files before 2", map[string]any{"files": []any{l.blob("file", first), l.blob("file", npyFile("<f4", 1, 1, []float32{1}))}}},
		{"import_embeddings", "ends within", map[string]any{"files": file(first[:len(first)-1])}},
		{"import_embeddings", `no file is named "*.npy*"; there are ["vectors.txt"]`, map[string]any{"files": []any{l.tree("files", map[string][]byte{"vectors.txt": first})}}},
	} {
		if c.kind == "import_embeddings" {
			c.config["documents"] = documents
		}
		var app *temporal.ApplicationError
		if _, err := l.do(c.kind, c.config); !errors.As(err, &app) || !app.NonRetryable() || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q, permanent", c.kind, err, c.want)
		}
	}
	for want, config := range map[string]map[string]any{
		"documents":  {"files": file(first)},
		"pattern":    {"files": file(first), "documents": documents, "file": "["},
		"names_file": {"files": file(first), "documents": documents, "extra": "leave_out"},
	} {
		errtest.Says(t, errtest.Of(l.Registry.Lookup("import_embeddings").Complete(config)), want)
	}
}
