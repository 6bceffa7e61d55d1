//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/stores/open"
)

// snapshot is what had been finished at some time.
type snapshot struct {
	results map[string]string // by key: the record
	ran     map[string]int    // by mark, for steps that have results
	err     error             // why further results may be missing
}

// store opens the round's store past the proxy; false if it is not there yet.
func (r *round) store(ctx context.Context) (artifacts.Store, bool) {
	url := r.path(".redsi", "store")
	if r.minio != nil {
		url = r.storeArgs(true)[1]
	} else if _, err := os.Stat(url); err != nil {
		return artifacts.Store{}, false
	}
	s, err := open.Store(ctx, url)
	return s, err == nil
}

// snapshot reads the results, and then the marks; nothing while the store cannot be reached.
func (r *round) snapshot() snapshot {
	ctx, cancel := context.WithTimeout(context.Background(), r.slack(20*time.Second))
	defer cancel()
	s := snapshot{results: map[string]string{}, ran: map[string]int{}}
	store, ok := r.store(ctx)
	if !ok {
		return s
	}
	var finished []string
	s.err = artifacts.EachResult(ctx, artifacts.Alone(store), func(x *artifacts.Result) bool {
		b, _ := json.Marshal(x)
		s.results[x.Key.Hex()] = string(b)
		finished = append(finished, markOf(x.Origin.Step))
		return true
	})
	if s.err != nil {
		r.note("only %d results of the store were read: %v", len(s.results), s.err)
	}
	now := marks(r.path("marks"))
	for _, m := range finished {
		if m != "" {
			s.ran[m] = now[m]
		}
	}
	return s
}

// outcome is what an undisturbed run leaves: digests of outputs, and the content of tables' files.
type outcome map[string]string

var seconds = regexp.MustCompile(`"seconds":[^,}]*`)

func (r *round) outcome() (outcome, error) {
	out, err := r.ask("artifacts", "ls", "--json")
	if err != nil {
		return nil, err
	}
	var all []struct{ Address, Output, Digest string }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		return nil, fmt.Errorf("redsi artifacts ls: %w", err)
	}
	o := outcome{}
	for _, a := range all {
		name := a.Address + "." + a.Output
		switch o[name] = a.Digest; name {
		case training + "report", training + "events": // which have times
			delete(o, name)
		case training + "curve":
			out, err := r.ask("artifacts", "cat", name)
			if err != nil {
				return nil, err
			}
			o[name] = seconds.ReplaceAllString(out, "")
		}
	}
	for _, path := range within(r.path("results"), "*/*") {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		o[strings.TrimPrefix(path, r.dir)] = string(b)
	}
	return o, nil
}

// trained returns the update of a training's newest checkpoint; 0 without one.
func (r *round) trained() (at int) {
	ctx, cancel := context.WithTimeout(context.Background(), r.slack(20*time.Second))
	defer cancel()
	store, ok := r.store(ctx)
	if !ok || r.shape.Updates == 0 {
		return 0
	}
	for info, err := range store.Records.List(ctx, "checkpoints/") {
		if n, wrong := strconv.Atoi(path.Base(info.Name)); err == nil && wrong == nil {
			at = max(at, n)
		}
	}
	return at
}

// checkTraining checks that a training resumed where it could, and left no checkpoint.
func (r *round) checkTraining() {
	out, err := r.ask("artifacts", "cat", training+"report")
	var report struct {
		From int `json:"resumed_at"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &report)
	}
	switch {
	case err != nil:
		r.violate("%v", err)
	case r.resumes && report.From == 0:
		r.violate("the training had a checkpoint and started over")
	default:
		r.note("the training's last part began at update %d", report.From)
	}
	for mark, n := range marks(r.path("marks")) {
		if n > 1 && len(r.runs) == 1 {
			r.violate("%s ran %d times, though only the second program was hurt", mark, n)
		}
	}
	if at := r.trained(); at > 0 {
		r.violate("a checkpoint at update %d is left of a training that has ended", at)
	}
}

// leases names the leases that killed holders left. Living workers give theirs back once the store is there.
func (r *round) leases() {
	ctx := context.Background()
	store, ok := r.store(ctx)
	if !ok {
		return
	}
	limit, say := time.Duration(0), r.note
	if r.fault.away && r.fault.place == cluster {
		limit, say = r.standing(), r.violate
	}
	var left []string
	var err error
	eventually(limit, func() bool {
		left, err = artifacts.RecordNames(ctx, store.Leases, "")
		return err == nil && len(left) == 0
	})
	if err != nil {
		r.violate("%v", err)
	}
	for _, name := range left {
		say("left until garbage collection: lease %s", name)
	}
}

func (r *round) check() {
	r.compare()
	if r.shape.Updates > 0 {
		r.checkTraining()
	}
	r.verify()
	r.checkLost()
	r.leases()
	r.dismiss()
	r.checkLeft()
}

func (r *round) compare() {
	want, err := r.h.reference(r.shape)
	var got outcome
	if err == nil {
		got, err = r.outcome()
	}
	if err != nil {
		r.violate("%v", err)
	} else if diff := cmp.Diff(want, got); diff != "" {
		r.violate("outputs and files differ from those of an undisturbed run (-want +got): %s", diff)
	}
}

func (r *round) verify() {
	out, err := r.ask("verify", "--json")
	if err != nil {
		r.violate("%v", err)
	}
	var v struct{ Problems []string }
	if at := strings.Index(out, "{"); err == nil && (at < 0 || json.NewDecoder(bytes.NewReader([]byte(out[at:]))).Decode(&v) != nil || len(v.Problems) > 0) {
		r.violate("verify: %.500s", out)
	}
}

// checkLost looks for results that are gone, and for finished work that was repeated.
func (r *round) checkLost() {
	after := r.snapshot()
	if after.err != nil {
		r.violate("the results cannot be read: %v", after.err)
		return
	}
	ran := marks(r.path("marks"))
	for _, b := range r.before {
		for name, text := range b.results {
			if now, ok := after.results[name]; !ok {
				r.violate("%s was there and is not", name)
			} else if now != text {
				r.violate("%s has different bytes than before", name)
			}
		}
		for mark, n := range b.ran {
			if ran[mark] > n {
				r.violate("%s had a result and ran again", mark)
			}
		}
	}
}

func (r *round) checkLeft() {
	limit := r.slack(cleared)
	var left []found
	if !eventually(limit, func() bool { left = belonging(r.dir, r.own()...); return len(left) == 0 }) {
		for _, f := range left {
			r.violate("left running after %.0f s: %s", limit.Seconds(), f)
		}
	}
	if left := r.scratch(); len(left) > 0 {
		r.note("left in TMPDIR until the next start: %s", strings.Join(left, ", "))
		r.nextStart()
		for _, name := range r.scratch() {
			r.violate("left in TMPDIR by the next start, too: %s", name)
		}
	}
	for _, state := range append(within(r.dir, "worker-*"), r.path(".redsi")) {
		_ = filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil
			}
			rel, _ := filepath.Rel(r.dir, path)
			switch {
			case strings.Contains(d.Name(), "lock") && !eventually(limit, func() bool { return unlocked(path) }):
				r.violate("still locked: %s", rel)
			case strings.HasSuffix(d.Name(), ".part"):
				r.violate("left: %s", rel)
			case filepath.Base(filepath.Dir(path)) == "tmp" && strings.Contains(rel, "store/"):
				r.note("in the store's tmp until it is a day old: %s", d.Name())
			}
			return nil
		})
	}
}

// scratch lists TMPDIR, without the folder and the lock that all processes of a user share.
func (r *round) scratch() (left []string) {
	own := fmt.Sprintf("redsi-%d", os.Getuid())
	for _, path := range append(within(r.path("tmp"), "*"), within(r.path("tmp"), "redsi-*/*")...) {
		if filepath.Base(path) != own && !strings.HasSuffix(path, own+"/lock") {
			left = append(left, strings.TrimPrefix(path, r.path("tmp")+"/"))
		}
	}
	return left
}

// nextStart starts a worker, which sweeps, and ends it.
func (r *round) nextStart() {
	r.dev = nil
	if err := r.setupDev(); err != nil {
		r.violate("the next start: %v", err)
		return
	}
	r.dev.signal(syscall.SIGINT)
	r.leaves(r.dev, syscall.SIGINT)
	eventually(r.slack(cleared), func() bool { return len(belonging(r.dir, r.own()...)) == 0 })
}

// unlocked reports whether nobody holds the lock of a file.
func unlocked(path string) bool {
	l := flock.New(path, flock.SetFlag(os.O_RDONLY)) // creates no file
	defer l.Close()
	free, err := l.TryLock()
	return free || err != nil
}
