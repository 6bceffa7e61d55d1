package local

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/readers"
)

// Stamp tells a file from every other, and from itself after a change: size and
// mtime can be set back by anybody (cp -p, rsync -t, tar), inode and ctime cannot.
// Linux keeps a change counter for its NFS server and gives it to no program
// (statx clears STATX_CHANGE_COOKIE), so the ctime is the best there is.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime_ns"`
	CTime int64  `json:"ctime_ns"`
}

// StampOf is the stamp of the file at path, which must be a regular one. It opens
// the file: a network file system answers from an old answer otherwise.
func StampOf(path string) (Stamp, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return Stamp{}, err
	}
	defer f.Close()
	return stampOf(f)
}

// OpenRegular opens a regular file and refuses everything else without waiting,
// as opening a pipe would.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func stampOf(f *os.File) (Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	st := Stamp{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	st.tell(info)
	return st, nil
}

// Seen is a file's stamp with the moment at which reading its bytes began.
type Seen struct {
	Stamp
	Read int64 `json:"read_ns"`

	// Sealed: it was hashed while nobody could write to it, and is read-only since.
	Sealed bool `json:"sealed,omitempty"`
}

// granularity is that of the coarsest file system's times, FAT's. Within it of its
// ctime a file may change once more and keep its stamp.
const granularity = 2 * time.Second

// Proves reports whether a file whose stamp is now has the bytes that were read
// then: nothing differs, and the last change was long enough before the reading
// that another one would have left another stamp, or nobody made one.
func (s Seen) Proves(now Stamp) bool {
	return s.Stamp == now && (s.Sealed || s.CTime < s.Read-int64(granularity))
}

// hashTries is how often a file is read that changes while it is read.
const hashTries = 3

// HashFile returns the digest of the file at path with the stamp that it had then,
// its size in it. A file that is being written to is an error. progress, which may
// be nil, is called with every piece that is read.
func HashFile(ctx context.Context, path string, progress func(done, total int64)) (artifacts.Digest, Seen, error) {
	for range hashTries {
		d, seen, err := hashOnce(ctx, path, progress)
		if err != nil {
			return artifacts.Digest{}, Seen{}, err
		}
		now, err := StampOf(path) // by its name: another file may have taken its place
		if err != nil {
			return artifacts.Digest{}, Seen{}, err
		}
		if now == seen.Stamp {
			return d, seen, nil
		}
	}
	return artifacts.Digest{}, Seen{}, fmt.Errorf("%s changed while it was read: wait until it is no longer being written", path)
}

func hashOnce(ctx context.Context, path string, progress func(done, total int64)) (d artifacts.Digest, seen Seen, err error) {
	f, err := OpenRegular(path)
	if err != nil {
		return d, seen, err
	}
	defer f.Close()
	seen.Read = time.Now().UnixNano()
	if seen.Stamp, err = stampOf(f); err != nil {
		return d, seen, err
	}
	h := sha256.New()
	if progress == nil {
		progress = func(int64, int64) {}
	}
	r := readers.Counted(readers.WithContext(ctx, f), func(n int64) { progress(n, seen.Size) })
	if _, err := io.Copy(h, r); err != nil {
		return d, seen, err
	}
	h.Sum(d[:0])
	return d, seen, nil
}

// Unchanged reports whether the file at path still has the bytes that HashFile
// found it to have, by its stamp, or, where that does not prove it, by hashing.
func Unchanged(ctx context.Context, path string, d artifacts.Digest, seen Seen) (bool, error) {
	now, err := StampOf(path)
	if err != nil {
		return false, err
	}
	if seen.Proves(now) {
		return true, nil
	}
	again, _, err := HashFile(ctx, path, nil)
	return again == d, err
}
