package lockfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/filetest"
	"github.com/redsi/redsi/step"
)

// FuzzLock reads lock files and adds a pin: it stands in the file then, beside
// those that stood there.
func FuzzLock(f *testing.F) {
	f.Add([]byte(`{"comment":"c","sources":[{"source":"https://a/b","sha256":"` + artifacts.Sum(nil).String() + `","size":3}]}`))
	f.Add([]byte(`{"sources":[{"source":"gs://x/y"},{"source":"gs://x/y"}]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"sources":null}`))
	f.Add([]byte("<<<<<<< HEAD\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), Name)
		filetest.Write(t, path, b)
		before, err := Read(path)
		pin := step.Pin{Source: "https://new.example/file", SHA256: artifacts.Sum([]byte("new")), Size: 3}
		if err != nil {
			if Add(path, []step.Pin{pin}) == nil {
				t.Fatal("a pin was added to a file that cannot be read")
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
				t.Fatal("a file that cannot be read was changed")
			}
			return
		}
		if _, ok := before.Pinned(pin.Source); ok {
			return
		}
		if err := Add(path, []step.Pin{pin}); err != nil {
			return
		}
		after, err := Read(path)
		if err != nil {
			t.Fatalf("%q with a pin more does not read: %v", b, err)
		}
		for _, want := range append(before.Sources, pin) {
			if _, ok := after.Pinned(want.Source); !ok {
				t.Fatalf("%q lost the pin of %q", b, want.Source)
			}
		}
	})
}
