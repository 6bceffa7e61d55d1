package artifacts

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is one named blob of a tree, or another entry that a folder may hold: see Mode.
type File struct {
	Name   string `json:"name"` // clean, relative, slash-separated
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"`
	Mode   Mode   `json:"mode,omitempty"`
	Link   string `json:"link,omitempty"` // of a Link: its target, relative to the folder of the link
}

// Artifact is one output of a step: either one blob (Files is nil) or a tree of blobs (Files sorted
// by name), which Tree makes. Equal content has an equal Digest whatever its Type.
type Artifact struct {
	Type   string `json:"type"`
	Digest Digest `json:"digest"` // of the bytes, or of the tree's manifest
	Size   int64  `json:"size"`   // bytes in all
	Files  []File `json:"files,omitzero"`
	Mode   Mode   `json:"mode,omitempty"` // Executable, of a file that was taken out of a tree
}

// Named returns the files of a tree, and any other artifact as a single file of that name.
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

// Mode says what an entry of a tree is.
type Mode string

// The modes of entries.
const (
	Plain      Mode = ""
	Executable Mode = "executable"
	Link       Mode = "link"   // a symbolic link whose target is within the tree
	Folder     Mode = "folder" // an empty folder
)

// Empty is the digest of no bytes: of folders, and of links that lead to no file.
var Empty = Sum(nil)

// maxHops is how many links are followed from one name to a file.
const maxHops = 40

// Follow returns the file that a link of a tree leads to, over other links; a Folder if it leads to
// a folder, through a linked folder, to nothing, or in a circle. Any other entry is returned as it is.
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

// Readable returns the entries of a tree that have bytes to read: files, and links to files.
func (a Artifact) Readable() []File {
	return slices.DeleteFunc(slices.Clone(a.Files), func(f File) bool { return a.Follow(f).Mode == Folder })
}

// CheckLink accepts links that cannot lead out of the tree, whichever other links it has: a clean
// target has ".." in front only, and so goes up only through the real folders around the link.
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

// settle gives links without a digest the digest of their target, and checks the entries of a sorted
// tree against their modes.
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

// treeFormat names the form of a tree's manifest, {"format": …, "files": […]}, of which the tree's
// digest is taken. Its JSON is canonical: fixed field order, files sorted, no white space, names in
// plain UTF-8.
const treeFormat = "redsi.tree/1"

// Tree returns the artifact of the given files, in any order; there may be none. Names are clean,
// relative, slash-separated and unique, and no file has the name of another file's folder. A link
// without a digest gets the digest of its target.
func Tree(typ string, files []File) (Artifact, error) {
	if len(files) > maxFiles {
		return Artifact{}, fmt.Errorf("a tree has at most %d files, not %d", maxFiles, len(files))
	}
	sorted := append([]File{}, files...) // not nil, which would be one blob
	slices.SortFunc(sorted, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	a := Artifact{Type: typ, Files: sorted}
	if err := settle(sorted); err != nil {
		return Artifact{}, err
	}
	seen := make(map[string]bool, len(sorted))
	for i, f := range sorted {
		if err := CheckFileName(f.Name); err != nil {
			return Artifact{}, err
		}
		if f.Digest.IsZero() || f.Size < 0 || f.Size > math.MaxInt64-a.Size {
			return Artifact{}, fmt.Errorf("file %q of a tree has no digest or a size of %d", f.Name, f.Size)
		}
		if i > 0 && sorted[i-1].Name == f.Name {
			return Artifact{}, fmt.Errorf("file %q is in the tree twice", f.Name)
		}
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if seen[dir] {
				return Artifact{}, fmt.Errorf("%q is both a file and the folder of %q", dir, f.Name)
			}
		}
		seen[f.Name] = true
		a.Size += f.Size
	}
	a.Digest = treeDigest(sorted)
	return a, nil
}

func treeDigest(files []File) Digest {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	quoted := func(s string) []byte {
		text.Reset()
		_ = enc.Encode(s) // never fails: it is a text
		return bytes.TrimSuffix(text.Bytes(), []byte{'\n'})
	}
	b := make([]byte, 0, 64+160*len(files))
	b = append(b, `{"format":"`+treeFormat+`","files":[`...)
	for i, f := range files {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"name":`...), quoted(f.Name)...)
		b = hex.AppendEncode(append(b, `,"digest":"`+digestPrefix...), f.Digest[:])
		b = strconv.AppendInt(append(b, `","size":`...), f.Size, 10)
		if f.Mode != "" { // a tree of plain files has the digest that it had before there were modes
			b = append(append(b, `,"mode":"`...), f.Mode...)
			b = append(append(b, `","link":`...), quoted(f.Link)...)
		}
		b = append(b, '}')
	}
	return Sum(append(b, `]}`...))
}

// Bounds of what a record may say: more is damage or malice.
const (
	maxFiles    = 1_000_000 // of a tree
	maxFileName = 1024      // bytes
	maxSegment  = 255       // bytes, as in most file systems
	maxType     = 200       // bytes
)

// reserved matches names that stand for devices on Windows, with any extension.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// isReserved matches a part of a file's name with reserved, if its first letter could be one of those.
func isReserved(part string) bool {
	return len(part) >= 3 && strings.IndexByte("cpanlCPANL", part[0]) >= 0 && reserved.MatchString(part)
}

// CheckFileName accepts names that name the same file on every system and cannot lead out of the
// folder that a tree is written to.
func CheckFileName(name string) error {
	if len(name) > maxFileName {
		return fmt.Errorf("file name %.80q… has %d bytes, more than %d", name, len(name), maxFileName)
	}
	for seg := range strings.SplitSeq(name, "/") {
		switch {
		case len(seg) > maxSegment:
			return fmt.Errorf("file name %.80q… has a part of %d bytes, more than %d", name, len(seg), maxSegment)
		case isReserved(seg), len(name) > 1 && name[1] == ':',
			seg != "." && seg != ".." && strings.TrimRight(seg, ". ") != seg:
			return fmt.Errorf("file name %.200q is another file on Windows: it names a device or drive, or ends with a dot or blank", name)
		}
	}
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("file name %.200q is not valid UTF-8", name)
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("file name %.200q is not a clean relative path", name)
	case strings.ContainsRune(name, '\\') || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("file name %.200q has a backslash or a control character", name)
	}
	return nil
}

// Validate reports an artifact that no step can have left: without a digest, of a negative size, or
// a tree whose manifest does not have its digest.
func (a Artifact) Validate() error {
	if len(a.Type) > maxType || !utf8.ValidString(a.Type) || strings.ContainsFunc(a.Type, unicode.IsControl) {
		return fmt.Errorf("type %.200q of an artifact is not a short text", a.Type)
	}
	if a.Files == nil {
		if a.Digest.IsZero() || a.Size < 0 || a.Mode != Plain && a.Mode != Executable {
			return fmt.Errorf("artifact of type %q has no digest, a size of %d or the mode %.40q", a.Type, a.Size, string(a.Mode))
		}
		return nil
	}
	t, err := Tree(a.Type, a.Files)
	if err != nil {
		return err
	}
	if t.Digest != a.Digest || t.Size != a.Size || !slices.Equal(t.Files, a.Files) {
		return fmt.Errorf("tree %s of type %q does not match its files (%s, %d bytes)", a.Digest, a.Type, t.Digest, t.Size)
	}
	return nil
}
