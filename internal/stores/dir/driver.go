package dir

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/filetype"
	"github.com/redsi/redsi/internal/system/readers"
)

// driver keeps a store's files below root.
type driver struct {
	root    string
	durable durable
}

var (
	_ artifacts.Driver      = (*driver)(nil)
	_ artifacts.LocalDriver = (*driver)(nil)
	_ artifacts.TidyDriver  = (*driver)(nil)
)

// Where returns the file's path in the file system.
func (d *driver) Where(path string) string { return filepath.Join(d.root, filepath.FromSlash(path)) }

// LocalPath implements artifacts.LocalDriver.
func (d *driver) LocalPath(path string) (string, bool) {
	file := d.Where(path)
	info, err := os.Lstat(file)
	return file, err == nil && info.Mode().IsRegular()
}

// isLoose reports whether a file need not survive a loss of power.
func isLoose(path string) bool { return strings.HasPrefix(path, leasesDir+"/") }

// alive fails if the store itself is not there, such as a disk that is not mounted, which must never look like
// a cache miss. The folder of leases is made with the first lease.
func (d *driver) alive(path string) error {
	top, _, _ := strings.Cut(path, "/")
	if isLoose(path) {
		top = recordsDir
	}
	if _, err := os.Stat(filepath.Join(d.root, top)); err != nil {
		return explain(fmt.Errorf("the store itself is gone: %w", err))
	}
	return nil
}

// Open opens a file that the store has written.
func (d *driver) Open(_ context.Context, path string) (io.ReadCloser, error) {
	f, err := openOurs(d.Where(path))
	if err != nil && absent(err) {
		if err := d.alive(path); err != nil {
			return nil, err
		}
		return nil, artifacts.ErrNotExist
	}
	if err != nil {
		return nil, explain(err)
	}
	return f, nil
}

// Has looks at names only. Only a regular file counts.
func (d *driver) Has(ctx context.Context, paths []string) ([]bool, error) {
	there := make([]bool, len(paths))
	gone := ""
	for i, p := range paths {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		info, err := os.Lstat(d.Where(p))
		if err != nil && !absent(err) {
			return nil, explain(err)
		}
		if there[i] = err == nil && info.Mode().IsRegular(); !there[i] {
			gone = p
		}
	}
	if gone == "" {
		return there, nil
	}
	return there, d.alive(gone)
}

// List walks the folder in which every path with the prefix is.
func (d *driver) List(ctx context.Context, prefix string) iter.Seq2[artifacts.FileInfo, error] {
	return func(yield func(artifacts.FileInfo, error) bool) {
		top := d.Where(path.Dir(prefix + "x"))
		for at := top; at != d.root; at = filepath.Dir(at) {
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				yield(d.info(at, fs.FileInfoToDirEntry(info)))
				return
			}
		}
		found := false
		err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // no such folder, or deleted meanwhile
			}
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil || p == top && e.IsDir() {
				return err
			}
			f, err := d.info(p, e)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !strings.HasPrefix(f.Path, prefix) && e.IsDir():
				return fs.SkipDir
			case !strings.HasPrefix(f.Path, prefix):
				return nil
			}
			found = true
			if !yield(f, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err == nil && !found {
			err = d.alive(prefix)
		}
		if err != nil {
			yield(artifacts.FileInfo{}, explain(err))
		}
	}
}

// info describes an entry of a walk.
func (d *driver) info(file string, e fs.DirEntry) (artifacts.FileInfo, error) {
	rel, err := filepath.Rel(d.root, file)
	if err != nil {
		return artifacts.FileInfo{}, err
	}
	f := artifacts.FileInfo{Path: filepath.ToSlash(rel)}
	if e.IsDir() {
		f.What, f.Folder = "a folder", true
		return f, nil
	}
	info, err := e.Info()
	if err != nil {
		return f, err
	}
	f.Size, f.ModTime = info.Size(), info.ModTime()
	if !info.Mode().IsRegular() {
		f.What = "a " + filetype.Name(info.Mode())
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Stat(file)
			f.Linked = err != nil || to.IsDir()
		}
	}
	return f, nil
}

// Ingest moves the new file into place, also over an old file: the content is the same, the age starts anew,
// and corrupt bytes are healed. Only a short file with the right bytes stays.
func (d *driver) Ingest(ctx context.Context, r io.Reader, path func(artifacts.Digest) string) (artifacts.Digest, int64, error) {
	source := &readers.Failing{R: r}
	start, err := io.ReadAll(io.LimitReader(source, smallBlob+1))
	if err != nil {
		return artifacts.Digest{}, 0, err
	}
	if len(start) <= smallBlob {
		if sum := artifacts.Sum(start); d.present(d.Where(path(sum)), start) {
			return sum, int64(len(start)), nil
		}
	}
	hash := sha256.New()
	tmp, n, err := writeTemp(ctx, d.root, io.TeeReader(io.MultiReader(bytes.NewReader(start), source), hash), false)
	if err != nil {
		return artifacts.Digest{}, 0, cmp.Or(source.Err, explain(err))
	}
	sum := artifacts.Digest(hash.Sum(nil))
	file := d.Where(path(sum))
	if err := place(d.root, tmp, file, false, os.Rename); err != nil {
		os.Remove(tmp)
		return artifacts.Digest{}, 0, explain(err)
	}
	if n <= smallBlob {
		d.durable.add(file)
	}
	return sum, n, nil
}

// Create links the finished file to its name: the file system refuses a name that is taken, for every process
// and machine that mounts it.
func (d *driver) Create(ctx context.Context, path string, data []byte) error {
	err := d.write(ctx, path, data, os.Link)
	switch {
	case errors.Is(err, fs.ErrExist):
		return artifacts.ErrExist
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: that file system has no hard links, which a store needs; use another --store", err)
	}
	return explain(err)
}

// Put renames the finished file to its name.
func (d *driver) Put(ctx context.Context, path string, data []byte) error {
	return explain(d.write(ctx, path, data, os.Rename))
}

func (d *driver) write(ctx context.Context, path string, data []byte, move func(from, to string) error) error {
	tmp, _, err := writeTemp(ctx, d.root, bytes.NewReader(data), isLoose(path))
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // a link leaves it behind; after a rename it is gone
	return place(d.root, tmp, d.Where(path), isLoose(path), move)
}

// rename puts a record in place of another; tests stop before it.
var rename = os.Rename

// Replace holds between machines by link and rename only, whatever their file locks are worth.
//
// The new record is written to tmp/. Its writer reads the file and, if it is old, claims it: it links a short
// file with the record's name in tmp/ to a name made of path, old and a number, which one writer gets. Then the
// record is renamed into place, by its writer or by whoever else finds the claim, so that a killed writer's
// record is, too. That happens once, as the record's name is random: a late writer finds it gone and overwrites
// nothing. If the file is old afterwards, since others have put the same bytes there anew, the next number is
// claimed.
//
// One writer wins: it claims a number after it has read old when all lower claims were done, and from then on
// only its record can take old's place. Inodes and times do not count, as they differ between machines (sshfs,
// SMB), and an earlier file may have had them.
//
// A claim that is done stays, for writers that have read old before. The sweep deletes it a day later, and
// deletes the record of a killed writer before its claim, by the order of their names, so that no claim is free
// while its record may still be renamed. A writer that stood still between two of these calls for a day may find
// its claim free again, or take a swept record for placed. A file that is deleted and created, or put, between
// two calls is taken for old.
func (d *driver) Replace(ctx context.Context, path string, old, data []byte) error {
	if err := d.still(ctx, path, old); err != nil {
		return err
	}
	loose, file := isLoose(path), d.Where(path)
	tmp, _, err := writeTemp(ctx, d.root, bytes.NewReader(data), loose)
	if err != nil {
		return explain(err)
	}
	defer os.Remove(tmp) // when it has its name, it is gone
	mine, of := filepath.Base(tmp), artifacts.Sum(append([]byte(path+"\n"), old...)).Hex()
	for n := 0; ; n++ {
		claim := fmt.Sprintf("%s/replace-%s-%d", tmpDir, of, n) // sorts after what writeTemp makes
		if _, err := os.Lstat(d.Where(claim)); err != nil {
			if err := d.Create(ctx, claim, []byte(mine)); err != nil && !errors.Is(err, artifacts.ErrExist) {
				return err
			}
		}
		// Over NFS, a link that was asked for twice is made and refused, so the claim's content decides.
		name, err := d.read(ctx, claim, 2*len(mine))
		if err != nil {
			return err
		}
		won := string(name) == mine
		err = place(d.root, filepath.Join(d.root, tmpDir, filepath.Base(string(name))), file, loose, rename)
		done := errors.Is(err, fs.ErrNotExist) // by another one
		switch {
		case won && done && !loose:
			return explain(syncDir(filepath.Dir(file)))
		case won && done:
			return nil
		case won || err != nil && !done:
			return explain(err)
		}
		if err := d.still(ctx, path, old); err != nil {
			return err
		}
	}
}

// still returns ErrExist if a file has other bytes, ErrNotExist if there is none.
func (d *driver) still(ctx context.Context, path string, what []byte) error {
	there, err := d.read(ctx, path, len(what)+1)
	if err == nil && !bytes.Equal(there, what) {
		return artifacts.ErrExist
	}
	return err
}

// read returns the start of a file.
func (d *driver) read(ctx context.Context, path string, most int) ([]byte, error) {
	f, err := d.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, int64(most)))
	return b, explain(errors.Join(err, f.Close()))
}

// Delete removes a file of the store, if it is there; a stray stays.
func (d *driver) Delete(_ context.Context, path string) error {
	file := d.Where(path)
	info, err := os.Lstat(file)
	if err == nil && info.Mode().IsRegular() {
		err = os.Remove(file)
	}
	if err != nil && !absent(err) {
		return explain(err)
	}
	return nil
}

// SetAside implements artifacts.TidyDriver.
func (d *driver) SetAside(_ context.Context, path string) (string, error) {
	to, err := setAside(d.root, d.Where(path))
	return to, explain(err)
}

// Many steps leave the same short outputs, above all empty ones, or a folder of which one file has changed. Such
// a blob is not written where its file has the same bytes, and not synced where this process has done that.

// smallBlob is how many bytes are read before anything is written.
const smallBlob = 64 << 10

// young is an age that counts as none in garbage collection.
const young = time.Minute

// durable remembers files that this process has synced, with their folders.
type durable struct {
	mu    sync.Mutex
	files map[string]os.FileInfo // by path
}

const durableMost = 4096

func (k *durable) add(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return // it will be written the next time, too
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil || len(k.files) >= durableMost {
		k.files = map[string]os.FileInfo{}
	}
	k.files[path] = info
}

func (k *durable) has(path string, info os.FileInfo) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	synced := k.files[path]
	return synced != nil && os.SameFile(synced, info)
}

// present reports whether a file has these bytes, makes it durable and starts its age anew; in any doubt it
// reports false. A file that another process has stored was synced before it had its name, but its folder
// perhaps not, so both are.
func (d *driver) present(path string, content []byte) bool {
	f, err := openOurs(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() != int64(len(content)) || info.Mode().Perm() != 0o444 {
		return false
	}
	there, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(there, content) {
		return false
	}
	if !d.durable.has(path, info) {
		if f.Sync() != nil || syncDir(filepath.Dir(path)) != nil {
			return false
		}
		d.durable.add(path)
	}
	if age := time.Since(info.ModTime()); age >= 0 && age < young {
		return true
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// asideDir keeps strays from the place of a blob or a record, or from beside them.
const asideDir = "aside"

// errNotOurs says that a path is not a regular file's. The store writes nothing else, so that there is no such
// blob or record.
var errNotOurs = errors.New("not a regular file")

// openOurs opens a file that the store has written. It follows no link and does not block on a pipe or device.
func openOurs(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|system.NoFollow|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	look := os.Lstat // a link, a socket or a folder without permission could not be opened
	switch {
	case err == nil:
		look = func(string) (os.FileInfo, error) { return f.Stat() }
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if info, unknown := look(path); unknown != nil || info.Mode().IsRegular() {
		return f, err
	}
	if err == nil {
		f.Close()
	}
	return nil, errNotOurs
}

// absent reports an error by which a file of the store is not there: nothing is, something else is, or a file is
// in the place of its folder.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, errNotOurs)
}

// makeWay moves aside what keeps the store from writing a file at path below root: a folder in its place, or a
// file in the place of its folder. It reports whether there was such a thing.
func makeWay(root, path string) (bool, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return false, err
	}
	parts := strings.Split(rel, string(filepath.Separator))
	at := filepath.Join(root, parts[0]) // which the store has made
	for i, part := range parts[1:] {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		last := i == len(parts)-2
		if last && info.Mode().IsRegular() {
			return false, nil
		}
		folder := info.IsDir()
		if !folder { // a link to a folder stays: files are opened through it
			to, err := os.Stat(at)
			folder = err == nil && to.IsDir()
		}
		if last || !folder {
			_, err := setAside(root, at)
			return err == nil, err
		}
	}
	return false, nil
}

// setAside moves whatever is at path, in a folder of the store at root, below root/aside.
func setAside(root, path string) (string, error) {
	rel, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is not in the store %s", path, root)
	}
	stamp := time.Now().UTC().Format("20060102T150405.000000000")
	to := filepath.Join(root, asideDir, stamp, rel)
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", err
	}
	if err := os.Rename(path, to); err != nil {
		return "", err
	}
	return to, nil
}
