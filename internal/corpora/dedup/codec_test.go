package dedup

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/internal/corpora/unpack/goldens"
	"github.com/redsi/redsi/internal/system/testkit"
)

func pageGrouping(t testing.TB) *Grouping {
	t.Helper()
	k, err := Lookup("page_id")
	testkit.None(t, err)
	return groupAll(t, paperHeaders(), []Key{k}, Options{}, paperSources())[0]
}

// TestCodec: the lines are an interface, which other tools read, and reading restores documents and queries.
func TestCodec(t *testing.T) {
	g := pageGrouping(t)
	packed := map[string][]byte{}
	for name, write := range map[string]func(io.Writer) error{"documents": g.WriteDocuments, "queries": g.WriteQueries, "unresolved": g.WriteAudit} {
		var b, second bytes.Buffer
		testkit.None(t, errors.Join(write(&b), write(&second)))
		if !bytes.Equal(b.Bytes(), second.Bytes()) {
			t.Errorf("two writes of %s differ", name)
		}
		packed[name] = b.Bytes()
		goldens.Same(t, filepath.Join("testdata", name+".jsonl"), string(goldens.Plain(t, b.Bytes())))
	}
	var got []Document
	testkit.None(t, ReadDocuments(bytes.NewReader(packed["documents"]), func(d *Document) error {
		got = append(got, *d)
		return nil
	}))
	testkit.Deep(t, got, documents(g), "documents")
	n := 0
	testkit.None(t, ReadQueries(bytes.NewReader(packed["queries"]), g.Len(), func(q *Query) error {
		testkit.Is(t, *q, g.Query(n), "query", n)
		n++
		return nil
	}))
	testkit.Is(t, n, g.Records.Len())
}

func TestReadersRefuse(t *testing.T) {
	pack := func(s string) *bytes.Buffer {
		var b bytes.Buffer
		w, _ := zstd.NewWriter(&b)
		io.WriteString(w, s)
		w.Close()
		return &b
	}
	own := `{"doc":0,"key":"k","example_id":0,"split":"","url":"","title":"t","train":0,"dev":0}` + "\n"
	ok := `{"doc":0,"key":"k","example_id":1,"split":"train","url":"u","title":"t","train":1,"dev":0}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"gap", ok + strings.Replace(ok, `"doc":0`, `"doc":2`, 1), "line 2: document 2 where 1 was expected"},
		{"fewer than no queries", strings.Replace(ok, `"train":1`, `"train":-1`, 1), "line 1: document 0 has -1"},
		{"a record twice after its own", own + strings.Replace(own, `"doc":0`, `"doc":1`, 1), "line 2:  example 0 represents document 0 and document 1"},
		{"a record twice before its own", strings.Replace(own, `"example_id":0`, `"example_id":1`, 1) + strings.NewReplacer(`"doc":0`, `"doc":1`, `"example_id":0`, `"example_id":1`).Replace(own), "line 2:  example 1 represents document 0 and document 1"},
		{"a record twice", ok + strings.Replace(ok, `"doc":0`, `"doc":1`, 1), "line 2: train example 1 represents document 0 and document 1"},
		{"other fields", `{"doc":0,"colour":1}`, "line 1: "},
		{"no fields", "{}\n", "line 1: there is no field doc: "},
		{"a field less", strings.Replace(ok, `,"dev":0`, "", 1), "line 1: there is no field dev: "},
		{"two in a line", strings.TrimSpace(ok) + strings.Replace(ok, `"doc":0`, `"doc":1`, 1), "line 1: "},
		{"no JSON", "hello", "line 1: "},
	} {
		err := ReadDocuments(pack(c.in), func(*Document) error { return nil })
		testkit.ErrSays(t, err, c.want)
	}
	q := `{"example_id":1,"split":"dev","question":"q","doc":3}` + "\n"
	testkit.ErrSays(t, ReadQueries(pack(q), 3, func(*Query) error { return nil }), "dev example 1 has target 3 of 3 documents")
	testkit.None(t, ReadQueries(pack(q), -1, func(*Query) error { return nil }))
	complete := pack(ok).Bytes()
	testkit.ErrSays(t, ReadDocuments(bytes.NewReader(complete[:len(complete)-3]), func(*Document) error { return nil }), "line 1: unexpected EOF")
}

// Hostile input gives an error or checked values, never a panic.
func FuzzReaders(f *testing.F) {
	g := pageGrouping(f)
	var docs, queries bytes.Buffer
	g.WriteDocuments(&docs)
	g.WriteQueries(&queries)
	f.Add(docs.Bytes(), false)
	f.Add(queries.Bytes(), false)
	line := `{"doc":0,"key":"k","example_id":1,"split":"train","url":"u","title":"t","train":1,"dev":0}` + "\n"
	f.Add([]byte(line+strings.Replace(line, `"doc":0`, `"doc":1`, 1)), true)
	f.Add([]byte(strings.Replace(line, `"dev":0`, `"dev":2147483648`, 1)), true)
	f.Add([]byte(`{"example_id":1,"split":"dev","question":"q","doc":2}`), true)
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	testkit.None(f, err)
	f.Fuzz(func(t *testing.T, data []byte, plain bool) {
		if plain {
			data = w.EncodeAll(data, nil)
		}
		n := int32(0)
		if err := ReadDocuments(bytes.NewReader(data), func(d *Document) error {
			if d.Doc != n || d.Train < 0 || d.Dev < 0 || d.Test < 0 {
				t.Fatalf("%+v", d)
			}
			n++
			return nil
		}); err != nil && err.Error() == "" {
			t.Fatal("an error without text")
		}
		if err := ReadQueries(bytes.NewReader(data), 3, func(q *Query) error {
			if q.Doc < 0 || q.Doc > 2 {
				t.Fatalf("%+v", q)
			}
			return nil
		}); err != nil && err.Error() == "" {
			t.Fatal("an error without text")
		}
	})
}
