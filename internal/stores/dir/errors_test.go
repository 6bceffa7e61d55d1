package dir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestExplain checks that errors of the file system name the path and say what
// to do. A full disk cannot be had in a test; its error is made by hand.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "the disk is full"},
		{syscall.EDQUOT, "the disk is full"},
		{syscall.EACCES, "cannot write there"},
		{syscall.EROFS, "cannot write there"},
		{syscall.ENOTDIR, "is a file"},
		{syscall.EXDEV, "link or mount the whole store"},
		{syscall.EMFILE, "ulimit"},
		{syscall.EIO, "input/output error"},
	} {
		err := explain(&fs.PathError{Op: "write", Path: "/store/tmp/put-1", Err: c.err})
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "/store/tmp/put-1") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %q", c.err, err)
		}
	}
	testkit.None(t, explain(nil), "no error explained as")
}

// TestSourceFails: what goes wrong with what is read into a store is not said of the store.
func TestSourceFails(t *testing.T) {
	s, err := Open(t.TempDir())
	testkit.None(t, err)
	denied := &fs.PathError{Op: "read", Path: "/other/file", Err: syscall.EACCES}
	for _, n := range []int{0, smallBlob + 1} {
		if _, _, err := s.Blobs.Put(t.Context(), io.MultiReader(strings.NewReader(strings.Repeat("x", n)), iotest.ErrReader(denied))); !errors.Is(err, denied) || strings.Contains(err.Error(), "--store") {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestOpenOnAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	testkit.None(t, os.WriteFile(path, nil, 0o666))
	testkit.ErrSays(t, testkit.Err(Open(path)), path, "is a file")
}
