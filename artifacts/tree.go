package artifacts

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

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

// CheckLink accepts links that cannot lead out of the tree, whichever other links it has: a
// clean target has ".." in front only, where the folders around the link are real ones.
func CheckLink(name, target string) error {
	to := path.Join(path.Dir(name), target)
	down := target
	for strings.HasPrefix(down, "../") {
		down = down[len("../"):]
	}
	switch {
	case path.IsAbs(target):
		return fmt.Errorf("link %q leads to the absolute path %.200q: a link within the folder is relative", name, target)
	case to == "..", strings.HasPrefix(to, "../"):
		return fmt.Errorf("link %q leads to %.200q, which is outside of the folder", name, target)
	case target != path.Clean(target):
		return fmt.Errorf("link %q leads to %.200q, which is not a clean path", name, target)
	case down == "." || down == "..":
		return nil
	}
	if err := CheckFileName(down); err != nil {
		return fmt.Errorf("link %q leads to another name: %w", name, err)
	}
	return nil
}

// settle gives links that have no digest yet that of what they lead to, and checks what the
// entries of a sorted tree say they are.
func settle(files []File) error {
	t := Artifact{Files: files}
	for i := range files {
		f := &files[i]
		is := *f
		switch f.Mode {
		case Plain, Executable:
			is.Link = ""
		case Folder:
			is.Digest, is.Size, is.Link = Empty, 0, ""
		case Link:
			if err := CheckLink(f.Name, f.Link); err != nil {
				return err
			}
			to := t.Follow(is)
			is.Digest, is.Size = to.Digest, to.Size
			if f.Digest.IsZero() {
				*f = is
			}
		default:
			return fmt.Errorf("%q has the mode %.40q, which this redsi does not know", f.Name, string(f.Mode))
		}
		if is != *f {
			return fmt.Errorf("%q of a tree is not the %s that it says it is", f.Name, f.Mode)
		}
	}
	return nil
}

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
