package goldens

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/testkit"
)

// Update is the flag -update: goldens are written.
var Update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Of returns a file's text; with -update it writes got first.
func Of(t testing.TB, path, got string) string {
	t.Helper()
	if *Update {
		testkit.Write(t, path, got)
	}
	return string(Text(t, path))
}

// OfJSON reads a file of one value into want; with -update it writes got first.
func OfJSON(t testing.TB, path string, got, want any) {
	t.Helper()
	b, err := json.MarshalIndent(got, "", "  ")
	testkit.None(t, err)
	if err := json.Unmarshal([]byte(Of(t, path, string(b)+"\n")), want); err != nil {
		t.Fatal(path, err)
	}
}

// OfTree returns the texts of a folder's files by their names; with -update it writes got first.
func OfTree(t testing.TB, folder string, got map[string]string) map[string]string {
	t.Helper()
	if *Update {
		testkit.None(t, os.RemoveAll(folder))
		for name, text := range got {
			testkit.Write(t, filepath.Join(folder, name), text)
		}
	}
	return Tree(t, folder)
}

// Tree returns the texts of a folder's files by their names.
func Tree(t testing.TB, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	testkit.None(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(folder, path))
		files[path] = string(b)
		return err
	}))
	return files
}

// Same fails the test if got differs from the file's text.
func Same(t testing.TB, path, got string) {
	t.Helper()
	if d := cmp.Diff(Of(t, path, got), got); d != "" {
		t.Errorf("%s; -update writes it (-want +got):\n%s", path, d)
	}
}

// Text returns a file's text, decompressed.
func Text(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	testkit.None(t, err)
	return Plain(t, b)
}

// Plain returns bytes that may be compressed, decompressed.
func Plain(t testing.TB, packed []byte) []byte {
	t.Helper()
	r, err := unpack.Open(bytes.NewReader(packed))
	testkit.None(t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	testkit.None(t, err)
	return b
}

func Read[T any](t testing.TB, path string, read func(io.Reader) (T, error)) T {
	t.Helper()
	v, err := read(bytes.NewReader(Text(t, path)))
	if err != nil {
		t.Fatal(path, err)
	}
	return v
}

// JSON reads a file of one value.
func JSON(t testing.TB, path string, v any) {
	t.Helper()
	if err := json.Unmarshal(Text(t, path), v); err != nil {
		t.Fatal(path, err)
	}
}

// Lines reads a file of a value a line.
func Lines[T any](t testing.TB, path string) (all []T) {
	t.Helper()
	for line := range bytes.Lines(Text(t, path)) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(path, err)
		}
		all = append(all, v)
	}
	return all
}
