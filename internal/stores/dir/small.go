package dir

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Steps leave the same short outputs again and again, above all empty ones, or a folder of which
// one file has changed. Such a blob is not written again where its file has the same bytes, and
// not synced again where this process knows it to be durable.

// smallBlob is how many bytes are read before anything is written.
const smallBlob = 64 << 10

// young is an age that is as good as none for those who ask how old a blob is.
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
		return // it is written again the next time
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
	known := k.files[path]
	return known != nil && os.SameFile(known, info)
}

// present reports whether a file has these bytes, and sees to it that it is durable and that its
// age starts anew. On any doubt it is not. One that another process has stored is synced: that it
// has a name says that it was, but not of its folder.
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
