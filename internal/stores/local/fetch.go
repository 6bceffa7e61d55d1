package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/atomicfile"
)

// cache returns verified local files of blobs, for readers that need to seek or map a file. It keeps copies of
// remote blobs in dir, which several processes may share; if they exceed limit bytes, it drops the copies that were
// unused for longest.
type cache struct {
	dir   string
	limit int64
}

// cacheLimit bounds the copies of a cache, in bytes.
const cacheLimit = 50 << 30

// inUse is how long a copy is kept after it was last asked for, even over the limit: the caller has its path and
// may not have opened it yet.
const inUse = time.Hour

// Fetch returns a local file with the verified bytes of d: the store's own if blobs are files here
// (artifacts.LocalOf), else a copy below cacheDir. The file's hashed.Proof is noted in cacheDir; where it does not
// hold, the file is hashed. Do not write to the file. A corrupt blob is an *artifacts.IntegrityError, a blob that is
// not there artifacts.ErrNotExist.
func Fetch(ctx context.Context, blobs artifacts.BlobReader, d artifacts.Digest, cacheDir string) (path string, err error) {
	return cache{cacheDir, cacheLimit}.fetch(ctx, blobs, d)
}

func (c cache) fetch(ctx context.Context, blobs artifacts.BlobReader, d artifacts.Digest) (path string, err error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	if err := c.open(); err != nil {
		return "", err
	}
	if store, ok := artifacts.LocalOf(blobs); ok {
		return c.inPlace(ctx, blobs, store, d)
	}
	path = filepath.Join(c.dir, "blobs", d.Hex())
	if _, err := os.Lstat(path); err == nil {
		err := c.verify(ctx, d, path)
		var bad *artifacts.IntegrityError
		switch {
		case err == nil:
			return path, nil
		case !errors.As(err, &bad) && !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		// Only the copy is bad, or another process has just dropped it: fetch it again.
	}
	if err := c.download(ctx, blobs, d, path); err != nil {
		return "", err
	}
	return path, c.trim()
}

func (c cache) open() error {
	for _, sub := range []string{"verified", "blobs"} {
		if err := os.MkdirAll(filepath.Join(c.dir, sub), 0o777); err != nil {
			return fmt.Errorf("cache of blobs: %w", err)
		}
	}
	return nil
}

// inPlace is fetch from a store whose blobs are files on this machine.
func (c cache) inPlace(ctx context.Context, blobs artifacts.BlobReader, store artifacts.Local, d artifacts.Digest) (string, error) {
	for range 2 {
		if path, ok := store.LocalPath(d); ok {
			if err := c.verify(ctx, d, path); !errors.Is(err, fs.ErrNotExist) {
				return path, err
			}
		}
		rc, err := blobs.Open(ctx, d) // what other stores have is a file here after that
		if err != nil {
			return "", err
		}
		rc.Close()
	}
	return "", fmt.Errorf("blob %s: %w", d, artifacts.ErrNotExist)
}

// download copies d to path, verified and complete, and notes it.
func (c cache) download(ctx context.Context, blobs artifacts.BlobReader, d artifacts.Digest, path string) error {
	rc, err := blobs.Open(ctx, d)
	if err != nil {
		return err
	}
	defer rc.Close()
	if err := atomicfile.Write(path, 0o444, func(w io.Writer) error {
		_, err := io.Copy(w, rc)
		return err
	}); err != nil {
		return fmt.Errorf("fetch blob %s: %w", d, err)
	}
	if err := c.seal(d, path); err != nil {
		return fmt.Errorf("cache of blobs: %w", err)
	}
	return nil
}

// seal notes a file that was hashed while it was written.
func (c cache) seal(d artifacts.Digest, path string) error {
	st, err := hashed.StampOf(path)
	if err != nil || st.CTime == math.MaxInt64 { // the system has no ctime
		return err
	}
	return c.note(d, hashed.Proof{Stamp: st, Read: time.Now().UnixNano(), Sealed: true})
}

func (c cache) notePath(d artifacts.Digest) string {
	return filepath.Join(c.dir, "verified", d.Hex()+".json")
}

// verify makes sure that the file at path holds d's bytes, by a note or by hashing it.
func (c cache) verify(ctx context.Context, d artifacts.Digest, path string) error {
	now, err := hashed.StampOf(path)
	if err != nil {
		return fmt.Errorf("verify blob %s: %w", d, err)
	}
	var noted hashed.Proof
	b, err := os.ReadFile(c.notePath(d))
	if err == nil && json.Unmarshal(b, &noted) == nil && noted.Holds(now) {
		now := time.Now()
		err := os.Chtimes(c.notePath(d), now, now) // for trim: last used now
		if !errors.Is(err, fs.ErrNotExist) {       // another process has dropped the note
			return err
		}
	}
	got, proof, err := hashed.Digest(ctx, path, nil)
	if err != nil {
		return fmt.Errorf("verify blob %s: %w", d, err)
	}
	if got != d {
		return &artifacts.IntegrityError{Want: d, Got: got, Size: proof.Size, Where: path}
	}
	return c.note(d, proof)
}

// note records a verified file. A note that is lost, or that two processes write at once, costs one more hash.
func (c cache) note(d artifacts.Digest, proof hashed.Proof) error {
	b, err := json.Marshal(proof)
	if err == nil {
		err = os.WriteFile(c.notePath(d), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cache of blobs: %w", err)
	}
	return c.trimNotes(d)
}

// noteAge is how long an unused note stays whose file is no copy in the cache.
const noteAge = 30 * 24 * time.Hour

// trimNotes drops old notes whose names begin as d's: with every 16th note a 256th of all.
func (c cache) trimNotes(d artifacts.Digest) error {
	if d[1]%16 != 0 {
		return nil
	}
	folder, err := os.Open(filepath.Join(c.dir, "verified"))
	if err != nil {
		return fmt.Errorf("trim the cache of blobs: %w", err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1) // of many, whose order and modes do not matter
	if err != nil {
		return fmt.Errorf("trim the cache of blobs: %w", err)
	}
	for _, name := range names {
		of, err := artifacts.ParseHex(strings.TrimSuffix(name, ".json"))
		if err != nil || of[0] != d[0] {
			continue
		}
		info, err := os.Stat(c.notePath(of))
		if err != nil || time.Since(info.ModTime()) < noteAge {
			continue
		}
		if _, err := os.Lstat(filepath.Join(c.dir, "blobs", of.Hex())); errors.Is(err, fs.ErrNotExist) {
			os.Remove(c.notePath(of)) // a note that is lost costs one more hash
		}
	}
	return nil
}

// trim drops copies, the longest unused first, until the limit is kept or all others are in use, as the newest copy
// is. A file that is open stays readable.
func (c cache) trim() error {
	entries, err := os.ReadDir(filepath.Join(c.dir, "blobs"))
	if err != nil {
		return fmt.Errorf("trim the cache of blobs: %w", err)
	}
	type copied struct {
		name string
		size int64
		used time.Time
	}
	var all []copied
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process has dropped it
		}
		used := info.ModTime()
		if d, err := artifacts.ParseHex(e.Name()); err == nil {
			if n, err := os.Stat(c.notePath(d)); err == nil {
				used = n.ModTime()
			}
		}
		all = append(all, copied{e.Name(), info.Size(), used})
		total += info.Size()
	}
	slices.SortFunc(all, func(a, b copied) int { return a.used.Compare(b.used) })
	for _, f := range all {
		if total <= c.limit {
			break
		}
		if time.Since(f.used) < inUse {
			continue
		}
		if err := os.Remove(filepath.Join(c.dir, "blobs", f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the cache of blobs: %w", err)
		}
		os.Remove(filepath.Join(c.dir, "verified", f.name+".json")) // its note
		total -= f.size
	}
	return nil
}

// Large is the size, in bytes, from which Put and Take note a blob, and from which it is worth naming its file to a
// reader rather than copying it.
const Large = 128 << 10

// Put is blobs.Put. A Large blob that is a file here is noted, so that Fetch does not hash it again.
func Put(ctx context.Context, blobs artifacts.Blobs, r io.Reader, cacheDir string) (artifacts.Digest, int64, error) {
	d, n, err := blobs.Put(ctx, r)
	if err == nil {
		noteNew(blobs, d, n, cacheDir)
	}
	return d, n, err
}

// Take is Put of the file at path, which the caller gives away: it is moved into the store where that is possible
// (artifacts.Local), and hashed once.
func Take(ctx context.Context, blobs artifacts.Blobs, path, cacheDir string) (artifacts.Digest, int64, error) {
	if store, ok := blobs.(artifacts.Local); ok {
		d, n, err := store.Take(ctx, path)
		if err == nil {
			noteNew(blobs, d, n, cacheDir)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return d, n, err
		}
	}
	f, err := hashed.OpenRegular(path)
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	defer f.Close()
	return Put(ctx, blobs, f, cacheDir)
}

// noteNew notes a blob that the store has just hashed and made read-only, so that it need not be hashed when it is
// asked for.
func noteNew(blobs artifacts.Blobs, d artifacts.Digest, n int64, cacheDir string) {
	store, ok := blobs.(artifacts.Local)
	if !ok || n < Large || cacheDir == "" {
		return
	}
	c := cache{cacheDir, cacheLimit}
	if path, ok := store.LocalPath(d); ok && c.open() == nil {
		_ = c.seal(d, path)
	}
}
