package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/words"
)

const (
	diskLow  = 10 << 30  // warns below so many bytes free
	diskFull = 100 << 20 // and fails below this
)

// State checks the folder for caches and the embedded server.
func State(dir string) Finding {
	f := Finding{What: "state folder", Note: dir}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		lock := flock.New(filepath.Join(dir, ".doctor"))
		_, err = lock.TryLock()
		err = errors.Join(system.LockError(err, lock.Path(), "the embedded server needs them"), lock.Close(), os.Remove(lock.Path()))
	}
	if err != nil {
		f.Note, f.Do = err.Error(), "name a writable folder on a file system with locks: --state DIR; results may stay where they are (--store)"
		return f
	}
	return withDisk(f, dir, "run redsi with this state folder on one machine at a time, or name one on a local disk: --state DIR; results may be shared (--store)")
}

// Folder looks at the disk of a folder, there or not; do is what to do if other machines do not see its locks.
func Folder(what, dir, do string) Finding {
	return withDisk(Finding{What: what, Note: dir}, dir, do)
}

// withDisk adds the file system and free space to a folder's finding. A folder without do, such as a store, needs no locks.
func withDisk(f Finding, dir, do string) Finding {
	f.OK = true
	kind, options := system.FileSystem(dir)
	if kind != "" {
		f.Note += ", " + kind
	}
	if local := system.LocalLocks(kind, options); local != "" {
		f.Note += " " + local
		if f.OK, f.Soft, f.Do = do == "", true, do; f.OK {
			f.Note += ", which a store does not need"
		}
	}
	free, ok := system.Free(dir)
	if !ok {
		return f // unknown
	}
	f.Note += ", " + words.Size(free) + " free"
	if free < diskLow {
		f.OK, f.Soft, f.Do = false, free >= diskFull, "free space on its disk, or name another folder"
	}
	return f
}

// Store reads the store at an address, and writes and deletes a few bytes; opened is why it could not be opened.
func Store(ctx context.Context, address string, s *artifacts.Resolver, opened error) Finding {
	f := Finding{What: "store", Note: open.Shown(address)}
	err := opened
	if err == nil {
		for _, rerr := range s.Own.Records.List(ctx, artifacts.RunsPrefix) {
			err = rerr
			break
		}
	}
	if err != nil {
		f.Note, f.Do = err.Error(), "name a store that can be reached: --store"
		return f
	}
	left, err := probe(ctx, s.Own)
	rivals := ""
	if err == nil {
		rivals, err = artifacts.Rivals(ctx, s.Own)
	}
	switch {
	case err != nil:
		f.Note, f.Do = f.Note+": can be read but not written: "+err.Error(), "runs need a writable store: check permissions and quota, or give another --store"
	case left != nil:
		f.Note, f.Do, f.Soft = f.Note+": cannot delete: "+left.Error(), "runs work, but gc and force do not", true
	default:
		f.OK, f.Note = true, f.Note+", can be read and written"
		if rivals != "" {
			f.Note += "; " + rivals
		}
	}
	if info, err := os.Stat(address); f.OK && err == nil && info.IsDir() {
		f = withDisk(f, address, "")
	}
	return f
}

// probe writes a blob and a record under unique names and deletes them; left: why that failed.
func probe(ctx context.Context, s artifacts.Store) (left, err error) {
	name := "doctor/" + strings.ToLower(rand.Text())
	d, _, err := s.Blobs.Put(ctx, strings.NewReader(name))
	if err != nil {
		return nil, err
	}
	left = s.Blobs.Delete(ctx, d)
	if err := s.Records.Create(ctx, name, []byte("{}")); err != nil {
		return left, err
	}
	return errors.Join(left, s.Records.Delete(ctx, name)), nil
}
