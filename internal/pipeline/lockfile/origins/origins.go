// Package origins looks at the places that a plan's sources come from: which bytes are pinned, whether the store has them,
// whether the origin still does, and where others may fetch them. It must not know how a source is pinned, or fetch one.
package origins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/fetch"
	"github.com/redsi/redsi/internal/host/listing"
	"github.com/redsi/redsi/internal/host/tracked"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/lockfile"
	"github.com/redsi/redsi/internal/pipeline/modules"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
	"golang.org/x/sync/errgroup"
)

const (
	OK          = "ok"
	Unpinned    = "unpinned"    // available, but its bytes are unknown
	Changed     = "changed"     // the origin has something else
	Unreachable = "unreachable" // the origin does not answer, or no longer has it
	Missing     = "missing"     // not in the store; the origin was not asked
)

// Source is the state of a download's source, or of a repository of modules.
type Source struct {
	Step    string `json:"step"`
	Source  string `json:"source"`
	SHA256  string `json:"sha256,omitempty"` // "" if its bytes are unknown
	State   string `json:"state"`
	InStore bool   `json:"in_store"`
	Size    int64  `json:"size,omitempty"` // as its origin says now; -1: unknown
	Note    string `json:"note,omitempty"`
}

// Lost reports whether neither the store nor the origin, as far as it was asked, has the bytes.
func (s Source) Lost() bool { return !s.InStore && s.State != OK && s.State != Unpinned }

// Of lists the sources of a plan's downloads, as they are pinned.
func Of(pl *plan.Plan) ([]Source, error) {
	sources := []Source{}
	for _, s := range pl.Steps {
		if s.Task.Kind != "download" {
			continue
		}
		var c struct {
			URLs   []string `json:"urls"`
			SHA256 []string `json:"sha256"`
		}
		if err := json.Unmarshal(s.Task.Config, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		for i, u := range c.URLs {
			x := Source{Step: s.Address, Source: u}
			if _, err := artifacts.ParseHex(c.SHA256[i]); err == nil {
				x.SHA256 = c.SHA256[i]
			}
			sources = append(sources, x)
		}
	}
	return sources, nil
}

const looksAtOnce = 8 // servers that are asked at a time

// Check finds the states of sources, and redacts them; offline asks only the store.
func Check(ctx context.Context, store *artifacts.Resolver, lock *lockfile.File, sources []Source, offline bool) error {
	if err := Stored(ctx, store, sources); err != nil {
		return err
	}
	var looks errgroup.Group
	looks.SetLimit(looksAtOnce)
	for i := range sources {
		looks.Go(func() error {
			pin, isPinned := lock.Pinned(sources[i].Source)
			sources[i].look(ctx, offline, pin.Size, isPinned)
			return nil
		})
	}
	_ = looks.Wait()         // a source has what went wrong with it
	for i := range sources { // last: pins are looked up by the source as it is written
		sources[i].Source = fetch.Redact(sources[i].Source)
	}
	return ctx.Err()
}

func Stored(ctx context.Context, store *artifacts.Resolver, sources []Source) error {
	var want []artifacts.Digest
	for _, s := range sources {
		if d, err := artifacts.ParseHex(s.SHA256); err == nil {
			want = append(want, d)
		}
	}
	missing, err := store.Missing(ctx, want)
	if err != nil {
		return err
	}
	gone := lists.Set(lists.Map(missing, artifacts.Digest.Hex))
	for i := range sources {
		sources[i].InStore = sources[i].SHA256 != "" && !gone[sources[i].SHA256]
	}
	return nil
}

// look finds the state of a source; size is the pinned size, if known.
func (s *Source) look(ctx context.Context, offline bool, size int64, isPinned bool) {
	s.State = OK
	if offline {
		if !s.InStore {
			s.State = Missing
		}
		return
	}
	src, err := fetch.ParseSource(s.Source)
	if err == nil {
		s.Size, err = fetch.Look(ctx, src)
	}
	switch {
	case err != nil:
		s.State, s.Note = Unreachable, err.Error()
	case isPinned && s.Size >= 0 && s.Size != size:
		s.State, s.Note = Changed, fmt.Sprintf("has %d bytes, but %d were pinned", s.Size, size)
	case s.SHA256 == "":
		s.State = Unpinned
	}
}

// Repositories are the states of modules' repositories; update is the command that pins a source's present commit.
func Repositories(ctx context.Context, used []modules.Used, offline bool, update func(source string) string) []Source {
	return lists.Map(used, func(u modules.Used) Source {
		return pinned(u.Source(), "commit "+u.Commit, offline, func() (string, error) {
			now, err := u.Moved(ctx)
			if now != "" {
				now = fmt.Sprintf("is now commit %s, but %s is pinned: `%s` pins the new one", now, u.Commit, update(u.Source()))
			}
			return now, err
		})
	})
}

// pinned is the state of what a lock file pins, by what is said of its change since.
func pinned(source, note string, offline bool, changed func() (string, error)) Source {
	s := Source{Source: source, State: OK, InStore: true, Note: note}
	if !offline {
		if now, err := changed(); err != nil {
			s.State, s.Note = Unreachable, err.Error()
		} else if now != "" {
			s.State, s.Note = Changed, now
		}
	}
	return s
}

// Patterns are the states of the lists that a lock file pins; update is the command that pins the present list.
func Patterns(ctx context.Context, lock *lockfile.File, offline bool, update func(pattern string) string) []Source {
	return lists.Map(lock.Lists, func(l lockfile.List) Source {
		return pinned(l.Pattern, fmt.Sprintf("%d files", len(l.Sources)), offline, func() (string, error) {
			_, added, gone, err := l.Relist(ctx)
			if len(added)+len(gone) == 0 {
				return "", err
			}
			return fmt.Sprintf("%d new, %d gone: `%s` takes them", len(added), len(gone), update(l.Pattern)), err
		})
	})
}

// Addresses says where others can fetch a plan's downloads: by https, with a digest, from an address without a secret.
func Addresses(pl *plan.Plan) (map[artifacts.Digest]string, error) {
	sources, err := Of(pl)
	if err != nil {
		return nil, err
	}
	found := map[artifacts.Digest]string{}
	for _, s := range sources {
		d, err := artifacts.ParseHex(s.SHA256)
		if err != nil {
			continue
		}
		src, err := fetch.ParseSource(s.Source)
		if err == nil && public(src.URL) {
			found[d] = src.URL
		}
	}
	return found, nil
}

// public reports whether an address may be published. Plain http is for servers on this machine.
func public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || address == "" || fetch.Redact(address) != address {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && ip != nil && ip.IsLoopback()
}

// Folder is what a source block takes of this machine.
type Folder struct {
	Address string `json:"address"`
	Files   int    `json:"files"` // with links
	Bytes   int64  `json:"bytes"`
	Ignored int    `json:"ignored"` // files, and folders with all in them, that .gitignore files leave out
	Problem string `json:"problem,omitempty"`
}

// Look looks at what a source block's task takes, and hashes none of it; ok is false of other tasks.
func Look(address string, t step.Task, pos pipeline.Pos) (f Folder, ok bool) {
	path, ignore, ok := pipeline.SourceOf(t, pos)
	if !ok {
		return f, false
	}
	l, err := listing.Of(path, ignore)
	if errors.Is(err, fs.ErrNotExist) {
		if d, _ := tracked.Of(path); d != nil {
			return Folder{Address: address, Files: max(d.Files, 1), Bytes: d.Size}, true
		}
	}
	if err != nil {
		return Folder{Address: address, Problem: err.Error()}, true
	}
	return Folder{Address: address, Files: len(l.Names()), Bytes: l.Bytes, Ignored: l.Ignored}, true
}

func Folders(pl *plan.Plan) (folders []Folder) {
	for _, s := range pl.Steps {
		if f, ok := Look(s.Address, s.Task, s.Pos); ok {
			folders = append(folders, f)
		}
	}
	return folders
}

// OfFolders are the states of what a plan's source blocks take; the store has it if it has the step's result.
func OfFolders(ctx context.Context, reg *step.Registry, store *artifacts.Resolver, pl *plan.Plan) (sources []Source, err error) {
	for _, s := range pl.Steps {
		f, ok := Look(s.Address, s.Task, s.Pos)
		if !ok {
			continue
		}
		var c struct{ Path, SHA256 string }
		_ = json.Unmarshal(s.Task.Config, &c) // Look has read it
		x := Source{Step: s.Address, Source: c.Path, SHA256: c.SHA256, State: OK, Size: f.Bytes, Note: fmt.Sprintf("%d files", f.Files)}
		if f.Problem != "" {
			x.State, x.Note = Unreachable, f.Problem
		}
		key, _, err := reg.Key(s.Task)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Address, err)
		}
		r, err := artifacts.Lookup(ctx, store, key)
		if err != nil {
			return nil, err
		}
		x.InStore = r != nil
		sources = append(sources, x)
	}
	return sources, nil
}
