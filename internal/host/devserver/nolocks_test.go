package devserver

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/system/nolocks"
)

// A state folder without locks is refused with the folder and what puts it elsewhere; looking does not hang.
func TestWithoutLocks(t *testing.T) {
	dir := t.TempDir()
	nolocks.Do(t, func() {
		_, err := Join(t.Context(), Options{Dir: dir})
		if !errors.Is(err, syscall.ENOLCK) || !strings.Contains(err.Error(), "the file system of "+dir+" has no file locks") || !strings.Contains(err.Error(), "--state") {
			t.Error(err)
		}
		if s := Visit(t.Context(), dir); s != nil {
			t.Error("a server without locks")
		}
	})
}
