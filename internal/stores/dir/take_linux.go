package dir

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/readers"
)

// Take hashes a file on the store's file system and renames it into place. A file that somebody may still write
// to, by a descriptor or a mapping, is copied; a small file, or one with another name, is errors.ErrUnsupported.
func (d *driver) Take(ctx context.Context, file string, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	tmp, err := d.away(file)
	if err != nil {
		return artifacts.Digest{}, 0, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	defer os.Remove(tmp) // when it has its name, it is gone
	f, err := os.OpenFile(tmp, os.O_RDONLY|system.NoFollow|syscall.O_NONBLOCK, 0)
	if err != nil {
		return artifacts.Digest{}, 0, explain(err)
	}
	defer f.Close() // and its lease
	sum, n, err := d.settle(ctx, f, path)
	if !errors.Is(err, errTouched) {
		return sum, n, explain(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return artifacts.Digest{}, 0, explain(err)
	}
	return d.Ingest(ctx, readers.WithContext(ctx, f), path)
}

// away moves a file that is worth it into tmp/, where nobody else knows its name.
func (d *driver) away(file string) (string, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if !hasOneLink(info) || info.Size() <= smallBlob {
		return "", errNotOurs
	}
	now := time.Now() // with a time that its program has set it might be swept, or collected
	if err := os.Chtimes(file, now, now); err != nil {
		return "", err
	}
	to, err := os.CreateTemp(filepath.Join(d.root, tmpDir), "take-*")
	if err != nil {
		return "", err
	}
	if err = errors.Join(to.Close(), os.Rename(file, to.Name())); err != nil {
		os.Remove(to.Name())
	}
	return to.Name(), err
}

// hasOneLink reports whether a file is this account's and has one name.
func hasOneLink(info os.FileInfo) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && sys.Nlink == 1 && int(sys.Uid) == os.Geteuid()
}

// errTouched says that a file may change, or may have changed, while it is hashed.
var errTouched = errors.New("it changed while it was read")

// settle hashes a file of tmp/ and gives it its name, as Ingest does with the file that it has written. A lease
// is granted only if nobody has the file open for writing, or mapped so, and is lost when somebody opens it.
func (d *driver) settle(ctx context.Context, f *os.File, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	info, err := f.Stat()
	if err != nil || !hasOneLink(info) || f.Chmod(0o444) != nil {
		return artifacts.Digest{}, 0, errTouched
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return artifacts.Digest{}, 0, errTouched
	}
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // Sync ends it
	var before, after unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &before); err != nil {
		return artifacts.Digest{}, 0, err
	}
	hash := sha256.New()
	n, err := io.Copy(hash, readers.WithContext(ctx, f))
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	if err := errors.Join(f.Sync(), unix.Fstat(int(f.Fd()), &after)); err != nil {
		return artifacts.Digest{}, 0, err
	}
	lease, err := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
	if before.Ctim != after.Ctim || before.Size != after.Size || n != after.Size || after.Nlink != 1 || err != nil || lease != unix.F_RDLCK {
		return artifacts.Digest{}, 0, errTouched
	}
	sum := artifacts.Digest(hash.Sum(nil))
	return sum, n, place(d.root, f.Name(), d.Where(path(sum)), false, os.Rename)
}
