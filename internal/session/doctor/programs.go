package doctor

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/host/revision"
)

const answersWithin = 20 * time.Second

// Programs lists the other redsi of a PATH, another version as a warning: a shell may start what nobody means.
func Programs(ctx context.Context, path string) (found []Finding) {
	this, _ := os.Stat(revision.Program()) // nil: none is this one
	seen := []os.FileInfo{this}
	for _, folder := range filepath.SplitList(path) {
		file := filepath.Join(folder, "redsi")
		info, err := os.Stat(file)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 || slices.ContainsFunc(seen, func(s os.FileInfo) bool { return os.SameFile(s, info) }) {
			continue
		}
		seen = append(seen, info)
		is := versionOf(ctx, file)
		f := Finding{What: "program", OK: is == revision.Of(), Soft: true, Note: "redsi " + is + ", " + file}
		if !f.OK {
			f.Note, f.Do = f.Note+", another version", "remove one, or start the one that you mean by its path"
		}
		found = append(found, f)
	}
	return found
}

// versionOf asks a program redsi.
func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	v := struct{ Revision string }{revision.Unknown}
	if out, err := exec.CommandContext(ctx, program, "version", "--json").Output(); err == nil {
		_ = json.Unmarshal(out, &v) // none: an unknown version
	}
	return v.Revision
}
