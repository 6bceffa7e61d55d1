package language

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/redsi/redsi/step"
)

// codeFiles are the files beside sources in a folder, for kinds with code: what they read joins Sources, as with file().
type codeFiles struct {
	f      *Files
	dir    string
	parsed map[string]func() (any, error)
}

// Code is the files beside the sources in a folder.
func (f *Files) Code(dir string) step.CodeFiles {
	c := f.code[dir]
	if c == nil {
		c = &codeFiles{f, dir, map[string]func() (any, error){}}
		f.code[dir] = c
	}
	return c
}

func (c *codeFiles) Read(name string) ([]byte, bool, error) {
	b, err := c.f.ReadBeside(c.dir, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (c *codeFiles) List(pattern string) ([]string, error) {
	return c.f.listBeside(c.dir, ".", pattern)
}

// Folder is not known where the pipeline is loaded from its sources alone.
func (c *codeFiles) Folder() string {
	if c.f.world.ReadFile == nil {
		return ""
	}
	folder, _ := filepath.Abs(filepath.FromSlash(c.dir)) // "" if it is not known
	return folder
}

func (c *codeFiles) Once(id string, make func() (any, error)) (any, error) {
	if c.parsed[id] == nil {
		c.parsed[id] = sync.OnceValues(make)
	}
	return c.parsed[id]()
}
