package dir

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// Steps leave the same short outputs again and again, above all empty ones. Such a blob
// is not written and synced again where its file has the same bytes and is known to be durable.

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

// present reports whether a file is durable with these bytes, and sees to it that its
// age starts anew. On any doubt it is not.
func (d *driver) present(path string, content []byte) bool {
	f, size, err := openOurs(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || size != int64(len(content)) || info.Mode().Perm() != 0o444 || !d.durable.has(path, info) {
		return false
	}
	there, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(there, content) {
		return false
	}
	if age := time.Since(info.ModTime()); age >= 0 && age < young {
		return true
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}
