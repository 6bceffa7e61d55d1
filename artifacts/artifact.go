package artifacts

import (
	"path"
	"slices"
	"strings"
)

// File is one named blob of a tree, or what else a folder may hold: see Mode.
type File struct {
	Name   string `json:"name"` // clean, relative, slash-separated
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"`
	Mode   Mode   `json:"mode,omitempty"`
	Link   string `json:"link,omitempty"` // of a Link: where it leads, from the folder that it is in
}

// Artifact is one output of a step: either one blob (Files is nil) or a tree of
// blobs (Files sorted by name). Equal content has an equal Digest whatever its
// Type. Make trees with Tree.
type Artifact struct {
	Type   string `json:"type"`
	Digest Digest `json:"digest"` // of the bytes, or of the tree's manifest
	Size   int64  `json:"size"`   // bytes in all
	Files  []File `json:"files,omitzero"`
	Mode   Mode   `json:"mode,omitempty"` // Executable: of a file of a tree that is one
}

// Named returns the files of a tree, and any other artifact as the one file of that name.
func (a Artifact) Named(name string) []File {
	if a.Files != nil {
		return a.Files
	}
	return []File{{Name: name, Digest: a.Digest, Size: a.Size, Mode: a.Mode}}
}

// Blobs returns the digests of all blobs that a holds, in order, each once.
func (a Artifact) Blobs() []Digest {
	ds := make([]Digest, 0, max(1, len(a.Files)))
	seen := make(map[Digest]bool, len(a.Files))
	for _, f := range a.Named("") {
		if !seen[f.Digest] {
			seen[f.Digest] = true
			ds = append(ds, f.Digest)
		}
	}
	return ds
}

// File returns the file of a tree by name.
func (a Artifact) File(name string) (File, bool) {
	i, ok := slices.BinarySearchFunc(a.Files, name, func(f File, n string) int {
		return strings.Compare(f.Name, n)
	})
	if !ok {
		return File{}, false
	}
	return a.Files[i], true
}

// Mode says what an entry of a tree is besides a file that is read.
type Mode string

// The modes of entries.
const (
	Plain      Mode = ""
	Executable Mode = "executable"
	Link       Mode = "link"   // a symbolic one that stays within the tree
	Folder     Mode = "folder" // an empty one
)

// Empty is the digest of what has no bytes: of folders, and of links that Follow says lead to none.
var Empty = Sum(nil)

// maxHops is how many links are followed from one name to a file.
const maxHops = 40

// Follow returns the file that a link of a tree leads to, over other links; a Folder where it
// leads to a folder, into one, to nothing, or in a circle. What is not a link is itself.
func (a Artifact) Follow(f File) File {
	for range maxHops {
		if f.Mode != Link {
			return f
		}
		to, ok := a.File(path.Join(path.Dir(f.Name), f.Link))
		if !ok {
			break
		}
		f = to
	}
	return File{Name: f.Name, Digest: Empty, Mode: Folder}
}

// Readable is the entries of a tree that have bytes to read: files, and links that lead to one.
func (a Artifact) Readable() []File {
	return slices.DeleteFunc(slices.Clone(a.Files), func(f File) bool { return a.Follow(f).Mode == Folder })
}
