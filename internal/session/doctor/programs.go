package doctor

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/revision"
)

// answersWithin bounds how long a program may take to say its version.
const answersWithin = 20 * time.Second

// Programs lists every redsi, redsi-temporal-server and redsi-models of a PATH with its version,
// and which of them this redsi uses. models says that it can use the last. One of another version
// is a warning: what a shell starts may not be what runs.
func Programs(ctx context.Context, path string, models bool) []Finding {
	self, _ := os.Executable() // "": none is told to be this one
	server, _ := devserver.Find()
	found := programs(ctx, "redsi", self, revision.Of(), path, redsiVersion)
	found = append(found, programs(ctx, devserver.Name, server, serverVersion(ctx, server), path, serverVersion)...)
	second, of := compute.Find(), ""
	if models {
		of = revision.Build()
	}
	return append(found, programs(ctx, compute.Name, second, of, path, modelsVersion)...)
}

// programs looks at the one that is used, of the version want if that is known, and at those of a PATH.
func programs(ctx context.Context, name, used, want, path string, version func(context.Context, string) string) []Finding {
	var found []Finding
	var seen []os.FileInfo
	for i, file := range append([]string{used}, filepath.SplitList(path)...) {
		if i > 0 {
			file = filepath.Join(file, name)
		}
		info, err := os.Stat(file)
		if err != nil || info.IsDir() || info.Mode()&0o111 == 0 || has(seen, info) {
			continue
		}
		seen = append(seen, info)
		is := want
		if i > 0 || want == "" {
			is = version(ctx, file)
		}
		f := Finding{What: "program", OK: true, Soft: true, Note: name + " " + is + ", " + file}
		switch {
		case i == 0:
			f.Note += ", which is used"
		case want != "" && is != want:
			f.OK, f.Note = false, f.Note+", another version"
			f.Do = "remove one, or start the one that you mean by its path"
		}
		found = append(found, f)
	}
	return found
}

func has(seen []os.FileInfo, info os.FileInfo) bool {
	for _, s := range seen {
		if os.SameFile(s, info) {
			return true
		}
	}
	return false
}

// said is what a program prints.
func said(ctx context.Context, program string, args ...string) []byte {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	out, _ := exec.CommandContext(ctx, program, args...).Output() // none: an unknown version
	return out
}

func redsiVersion(ctx context.Context, program string) string {
	var v struct{ Revision string }
	_ = json.Unmarshal(said(ctx, program, "version", "--json"), &v)
	return or(v.Revision)
}

// serverVersion is that of the Temporal that is linked.
func serverVersion(_ context.Context, program string) string {
	if v := devserver.Temporal(program); v != "" {
		return "with Temporal " + v
	}
	return revision.Unknown
}

func modelsVersion(ctx context.Context, program string) string {
	return or(strings.TrimSpace(string(said(ctx, program, "--version"))))
}

func or(version string) string {
	if version == "" {
		return revision.Unknown
	}
	return version
}
