package pipeline

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
)

// codeFiles are the files beside the sources in a folder, for kinds that take code from them.
// What they read becomes part of the pipeline's Sources, as what file() reads.
type codeFiles struct {
	l      *loader
	dir    string
	parsed map[string]func() (any, error)
}

func (l *loader) codeBeside(dir string) *codeFiles {
	f := l.code[dir]
	if f == nil {
		f = &codeFiles{l, dir, map[string]func() (any, error){}}
		l.code[dir] = f
	}
	return f
}

func (f *codeFiles) Read(name string) ([]byte, bool, error) {
	b, err := f.l.readBeside(f.dir, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (f *codeFiles) List(pattern string) ([]string, error) {
	return f.l.listBeside(f.dir, ".", pattern)
}

// Folder is not known where the pipeline is loaded from its sources alone.
func (f *codeFiles) Folder() string {
	if f.l.ReadFile == nil {
		return ""
	}
	folder, _ := filepath.Abs(filepath.FromSlash(f.dir)) // "" if it is not known
	return folder
}

func (f *codeFiles) Once(id string, make func() (any, error)) (any, error) {
	if f.parsed[id] == nil {
		f.parsed[id] = sync.OnceValues(make)
	}
	return f.parsed[id]()
}
