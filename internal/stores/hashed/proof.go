package hashed

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

// Proof is a file's stamp with the moment at which reading its bytes began.
type Proof struct {
	Stamp
	Read int64 `json:"read_ns"`

	// Sealed: it was hashed while nobody could write to it, and is read-only since.
	Sealed bool `json:"sealed,omitempty"`
}

// Holds reports whether a file whose stamp is now has the bytes that were read then: the stamps are equal, and a
// change since would have left another stamp, or nobody could make one.
func (p Proof) Holds(now Stamp) bool {
	return p.Stamp == now && (p.Sealed || Settled(p.CTime, p.Read))
}

// granularity is the coarsest of any file system's times, FAT's.
const granularity = 2 * time.Second

// Settled reports whether a file's last change, in nanoseconds of Unix time, was so long before the reading that a
// later change has another time.
func Settled(changed, read int64) bool { return changed < read-int64(granularity) }

// hashTries is how often a file is read that changes while it is read.
const hashTries = 3

// Digest returns the digest of the file at path and its proof, which has the file's size. A file that is being
// written to is an error. progress, which may be nil, is called after every piece that is read, in bytes.
func Digest(ctx context.Context, path string, progress func(done, total int64)) (artifacts.Digest, Proof, error) {
	for range hashTries {
		d, proof, err := hashOnce(ctx, path, progress)
		if err != nil {
			return artifacts.Digest{}, Proof{}, err
		}
		now, err := StampOf(path) // by its name: another file may have taken its place
		if err != nil {
			return artifacts.Digest{}, Proof{}, err
		}
		if now == proof.Stamp {
			return d, proof, nil
		}
	}
	return artifacts.Digest{}, Proof{}, fmt.Errorf("%s changed while it was read: wait until it is no longer being written", path)
}

func hashOnce(ctx context.Context, path string, progress func(done, total int64)) (d artifacts.Digest, proof Proof, err error) {
	f, err := OpenRegular(path)
	if err != nil {
		return d, proof, err
	}
	defer f.Close()
	proof.Read = time.Now().UnixNano()
	if proof.Stamp, err = stampOf(f); err != nil {
		return d, proof, err
	}
	h := sha256.New()
	if progress == nil {
		progress = func(int64, int64) {}
	}
	r := readers.Counted(readers.WithContext(ctx, f), func(n int64) { progress(n, proof.Size) })
	if _, err := io.Copy(h, r); err != nil {
		return d, proof, err
	}
	h.Sum(d[:0])
	return d, proof, nil
}

// Unchanged reports whether the file at path still has the bytes that Digest read, by its stamp or, where that is
// no proof, by hashing.
func Unchanged(ctx context.Context, path string, d artifacts.Digest, proof Proof) (bool, error) {
	now, err := StampOf(path)
	if err != nil {
		return false, err
	}
	if proof.Holds(now) {
		return true, nil
	}
	is, _, err := Digest(ctx, path, nil)
	return is == d, err
}

// Stamp tells a file from every other, and from itself after a change: size and mtime can be set back by anybody
// (cp -p, rsync -t, tar), inode and ctime cannot. Linux keeps a change counter for its NFS server and gives it to
// no program (statx clears STATX_CHANGE_COOKIE), so that the ctime is the best there is.
type Stamp struct {
	Dev   uint64 `json:"dev"`
	Inode uint64 `json:"inode"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime_ns"`
	CTime int64  `json:"ctime_ns"`
}

// StampOf returns the stamp of the regular file at path. It opens the file, as a network file system may give an
// old answer otherwise.
func StampOf(path string) (Stamp, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return Stamp{}, err
	}
	defer f.Close()
	return stampOf(f)
}

// OpenRegular opens a regular file. It refuses everything else and does not block on a pipe.
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
