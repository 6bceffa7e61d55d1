package dir_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/stores/dir"
	"github.com/redsi/redsi/internal/system/nolocks"
)

// What needs a lock, a change to what is there, says so; all else works.
func TestWithoutLocks(t *testing.T) {
	root, ctx := t.TempDir(), t.Context()
	nolocks.Do(t, func() {
		s, err := dir.Open(root)
		if err == nil {
			err = s.Records.Create(ctx, "runs/1", []byte("a"))
		}
		if err != nil {
			t.Error(err)
			return
		}
		if err := s.Records.Replace(ctx, "runs/1", []byte("a"), []byte("b")); err == nil || !strings.Contains(err.Error(), root+" has no file locks") || !strings.Contains(err.Error(), "--store") {
			t.Error(err)
		}
	})
}
