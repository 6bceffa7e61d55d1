package step

import (
	"context"
	"errors"

	"github.com/redsi/redsi/artifacts"
)

// Pin is what is known of a source's bytes.
type Pin struct {
	Source string           `json:"source"`
	SHA256 artifacts.Digest `json:"sha256"`
	Size   int64            `json:"size"`
}

// Sources is what Resolve may ask before a key exists.
type Sources interface {
	// Pinned returns what the lock file has for a source.
	Pinned(source string) (Pin, bool)
	// Listed says which sources a pattern of a server stands for, as the lock file pins them.
	Listed(ctx context.Context, pattern string) ([]string, error)
	// LocalFile hashes a local file, remembering unchanged ones.
	LocalFile(ctx context.Context, path string) (Pin, error)
	// LocalTree lists and hashes a folder, a file or the files that fit a pattern, remembering
	// unchanged ones. With ignore, the rules of .gitignore files leave some out. Where nothing
	// is there, the error is fs.ErrNotExist, and Folder has its Source.
	LocalTree(ctx context.Context, path string, ignore bool) (Folder, error)
	// Program finds a program, the same one for a whole plan.
	Program(name string) (path string, err error)
}

// NoSources knows of nothing. Sources that know a part embed it.
type NoSources struct{}

func (NoSources) Pinned(string) (p Pin, ok bool)                       { return p, false }
func (NoSources) Listed(context.Context, string) ([]string, error)     { return nil, errNotKnown }
func (NoSources) LocalFile(context.Context, string) (p Pin, err error) { return p, errNotKnown }
func (NoSources) LocalTree(context.Context, string, bool) (f Folder, err error) {
	return f, errNotKnown
}
func (NoSources) Program(string) (string, error) { return "", errNotKnown }

var errNotKnown = errors.New("it is not known here")

// Folder is what files of this machine are as a tree.
type Folder struct {
	Source string // absolute path, or pattern
	Root   string // folder that names of files start from
	Tree   artifacts.Artifact
}

// CodeFiles are the files beside the pipeline file that a step stands in.
type CodeFiles interface {
	// Read returns a file by its name, relative to the folder; false if there is none.
	Read(name string) (text []byte, ok bool, err error)
	// List lists the files whose names match a pattern, sorted; hidden ones only where the
	// pattern says so.
	List(pattern string) ([]string, error)
	// Folder is where they are on this machine; "" if that is not known.
	Folder() string
	// Once calls make once for an id while the pipeline is loaded.
	Once(id string, make func() (any, error)) (any, error)
}
