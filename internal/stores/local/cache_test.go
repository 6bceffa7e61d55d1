package local

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/errtest"
)

func TestCacheLimit(t *testing.T) {
	s := mem.New()
	c := cache{t.TempDir(), 250}
	var ds []artifacts.Digest
	for i := range 4 {
		d := storetest.Put(t, s, bytes.Repeat([]byte{byte(i)}, 100))
		ds = append(ds, d)
	}
	has := func(d artifacts.Digest) bool {
		_, err := os.Stat(filepath.Join(c.dir, "blobs", d.Hex()))
		return err == nil
	}
	for i, d := range ds[:3] {
		errtest.None(t, errtest.Of(c.fetch(t.Context(), s.Blobs, d)))
		if !has(ds[0]) {
			t.Fatalf("fetch %d dropped a copy that was just handed out", i)
		}
	}
	for i, d := range ds[:3] { // the second one was used last
		used := time.Now().Add(-[]time.Duration{5, 2, 4}[i] * time.Hour)
		errtest.None(t, os.Chtimes(filepath.Join(c.dir, "verified", d.Hex()+".json"), used, used))
	}
	errtest.None(t, errtest.Of(c.fetch(t.Context(), s.Blobs, ds[3])))
	if has(ds[0]) || !has(ds[1]) || has(ds[2]) || !has(ds[3]) {
		t.Errorf("kept %v %v %v %v, want the two used last", has(ds[0]), has(ds[1]), has(ds[2]), has(ds[3]))
	}
}
