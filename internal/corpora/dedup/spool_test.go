package dedup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

// many adds records of syntheticHeader, and gives the folder with what is not in memory.
func many(t *testing.T, n int, names ...string) (g *Grouper, dir string) {
	t.Helper()
	var keys []Key
	for _, name := range names {
		k, err := Lookup(name)
		testkit.None(t, err)
		keys = append(keys, k)
	}
	dir = t.TempDir()
	g, err := NewGrouper(func() (string, error) { return dir, nil }, keys, Options{RecordOrder: TrainFirst}, Sources{})
	testkit.None(t, err)
	for i := range n {
		var h nq.Header
		syntheticHeader(&h, i)
		testkit.None(t, g.Add(&h))
	}
	return g, dir
}

// TestManyRecords: records that need several tables have the documents that one table of whole keys gives them, in the same
// order, and none of them is held.
func TestManyRecords(t *testing.T) {
	const n = 3 * tableSums / 2
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	g, _ := many(t, n, "url_title", "url")
	if more := live() - before; more > 10*n {
		t.Errorf("%d records hold %d bytes", n, more)
	}
	gs, err := g.Groupings()
	testkit.None(t, err)
	for _, of := range gs {
		var table NameTable
		for i := range n {
			var h nq.Header
			syntheticHeader(&h, i)
			key, err := of.Key.Of(&h, Options{}, Sources{})
			testkit.None(t, err)
			doc, isNew := table.Add(key)
			if of.docOf[i] != doc || isNew && of.KeyOf(doc) != key {
				t.Fatalf("%s: record %d is of document %d, %q; want %d, %q", of.Key.Name, i, of.docOf[i], of.KeyOf(doc), doc, key)
			}
		}
		testkit.Is(t, of.Len(), table.Len(), of.Key.Name)
	}
}

// TestDiskFails: the grouping, or a write from it, returns an error of the disk.
func TestDiskFails(t *testing.T) {
	k, err := Lookup("url")
	testkit.None(t, err)
	full := errors.New("the disk is full")
	g, err := NewGrouper(func() (string, error) { return "", full }, []Key{k}, Options{}, Sources{})
	testkit.None(t, err)
	for i := range 2000 {
		var h nq.Header
		syntheticHeader(&h, i)
		testkit.None(t, g.Add(&h))
	}
	testkit.ErrIs(t, testkit.Err(g.Groupings()), full, "no folder")

	g, dir := many(t, 2000, "url")
	gs, err := g.Groupings()
	testkit.None(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	testkit.None(t, err)
	for _, f := range files {
		testkit.None(t, os.Truncate(f, 1000))
	}
	for _, err := range []error{gs[0].WriteDocuments(io.Discard), gs[0].WriteQueries(io.Discard)} {
		testkit.Some(t, err, len(files))
	}
	testkit.Some(t, testkit.Err(g.Groupings()), len(files))
}
