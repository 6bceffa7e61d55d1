package general

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
)

// A program is read again when it has changed, however often it was hashed before.
func TestHashedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tool")
	for _, text := range []string{"one", "two", "one"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)); err != nil { // size and time as before
			t.Fatal(err)
		}
		for range 2 {
			if p, err := hashed(t.Context(), path); err != nil || p.path != path || p.digest != artifacts.Sum([]byte(text)) {
				t.Errorf("%s: %+v, %v", text, p, err)
			}
		}
	}
}
