package libraries

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
)

// root is a folder or file whose files count.
type root struct {
	Path string
	Name string // what its files' names begin with
	Code bool   // a folder of sources, in which only the files that Python imports count
}

// entry is a file below a root, as the file system describes it.
type entry struct {
	Name  string // below the root, with forward slashes
	Size  int64
	MTime int64
	CTime int64
	Inode uint64
	Link  bool // to a folder
}

const maxFiles = 500_000

// stampOf returns a digest of all that scan says of files, and the time of their newest change.
func stampOf(roots []root, all [][]entry) (stamp string, newest int64) {
	h := sha256.New()
	var line []byte
	for i, list := range all {
		head, _ := json.Marshal(roots[i]) // of texts and a bool
		h.Write(head)
		for _, e := range list {
			line = append(append(line[:0], e.Name...), 0)
			for _, n := range []int64{e.Size, e.MTime, e.CTime, int64(e.Inode)} {
				line = append(strconv.AppendInt(line, n, 16), ' ')
			}
			line = append(strconv.AppendBool(line, e.Link), '\n')
			h.Write(line)
			newest = max(newest, e.CTime)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), newest
}
