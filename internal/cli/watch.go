package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/stores/hashed"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// watchEvery is how often the files of a watched pipeline are looked at.
const watchEvery = time.Second

// stamps are files as they were when they were looked at; zero of one that is not there.
type stamps map[string]hashed.Stamp

// changed are the files that are otherwise than in old.
func (s stamps) changed(old stamps) []string {
	return lists.Filter(slices.Sorted(maps.Keys(s)), func(f string) bool { return s[f] != old[f] })
}

// watch runs again whenever a file has changed that the pipeline reads, until ctx ends. A run is
// not disturbed by a change; the next one begins after it.
func (a *app) watch(ctx context.Context, o runOptions) error {
	if o.Detach {
		return fault.Input(errors.New("--watch cannot be used with --detach: it follows one run after the other"))
	}
	var read stamps  // files as they were before they were read
	note := func() { // those that are new
		now := a.look()
		maps.Copy(now, read)
		read = now
	}
	o.Loaded = func() {
		a.sayLocal()
		note()
	}
	ticks := time.NewTicker(watchEvery)
	defer ticks.Stop()
	for {
		read = a.look()
		err := a.run(ctx, o)
		if ctx.Err() != nil {
			return err
		}
		if err != nil && !fault.Silent(err) {
			view.Println(a.Err, "redsi:", err)
		}
		note()
		a.Say("watching " + words.Count(len(read), "file") + "; Ctrl-C ends")
		files := await(ctx, read, a.look, ticks.C)
		if files == nil {
			return nil
		}
		a.Say(words.And(files, 3) + " changed")
	}
}

// await waits until files have changed, and then for a look without a further change; nil if ctx
// ends.
func await(ctx context.Context, old stamps, look func() stamps, ticks <-chan time.Time) []string {
	for last := old; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
		now := look()
		if files := now.changed(old); len(files) > 0 && len(now.changed(last)) == 0 {
			return files
		}
		last = now
	}
}

// look stamps the files that plans have read, and all that may be part of the pipeline.
func (a *app) look() stamps {
	now := stamps{}
	dir := session.ProjectDir(a.File)
	beside, _ := fs.Glob(os.DirFS(dir), "*.hcl") // its pattern is valid
	for i, name := range beside {
		beside[i] = filepath.Join(dir, name)
	}
	for _, f := range slices.Concat(a.FilesRead(), a.VarFiles, beside, []string{a.File}) {
		now[f], _ = hashed.StampOf(f)
	}
	delete(now, filepath.Join(dir, syntax.LocalFile)) // the settings are read once, at the start
	return now
}
