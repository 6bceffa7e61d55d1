// Package doctor owns the checks of a machine and its settings for what redsi needs: each is a function that returns
// findings, with what to do where something is missing. What it checks is given or looked up here; it must not know flags,
// environment variables that name settings, or how findings are shown.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/allocation"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/workflows"
)

const (
	OK   = "ok"
	Warn = "warn" // only some uses need it
	Fail = "fail"
)

type Finding struct {
	What  string `json:"what"`
	OK    bool   `json:"ok"`
	Level string `json:"level"`          // of Leveled
	Note  string `json:"note"`           // what was found
	Do    string `json:"do,omitempty"`   // what to do about it
	Soft  bool   `json:"soft,omitempty"` // only some uses need it: a warning

	Card  *nvidia.Card `json:"card,omitempty"`  // that this is about
	Rates *rates.Rates `json:"rates,omitempty"` // that were measured
}

func (f Finding) level() string {
	switch {
	case f.OK:
		return OK
	case f.Soft:
		return Warn
	}
	return Fail
}

// Leveled gives each finding its level, and counts the failed checks.
func Leveled(found []Finding) (failed int) {
	for i := range found {
		if found[i].Level = found[i].level(); found[i].Level == Fail {
			failed++
		}
	}
	return failed
}

const AnswersWithin = 10 * time.Second

func Build(kinds int) Finding {
	return Finding{What: "redsi", OK: true, Note: fmt.Sprintf("revision %s, %s, %s/%s, %d kinds, %s",
		revision.Of(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kinds, revision.Program())}
}

// Cores says how many processors there are, and how redsi's own arithmetic is computed on them.
func Cores() Finding {
	f := Finding{What: "processors", OK: true, Soft: true, Note: fmt.Sprintf("%d, of which redsi uses %d; training uses those that no other step uses (--slots, --threads)", runtime.NumCPU(), capacity.Here().CPUs)}
	if runtime.GOARCH == "amd64" && !cpu.X86.HasAVX2 {
		f.Note += "; without AVX2, so k-means takes some four times as long, with the same results"
	}
	if n := os.Getenv("OMP_NUM_THREADS"); n != "" {
		f.Note += "; OMP_NUM_THREADS=" + n
	}
	return f
}

// Job says what this process has by its batch job; nothing where there is none.
func Job() []Finding {
	of := allocation.Here()
	if of.Job == "" {
		return nil
	}
	here := capacity.Here()
	f := Finding{What: "batch job", OK: true, Soft: true, Note: fmt.Sprintf("%s: %s, %s of memory for steps", of, words.Count(here.CPUs, "processor"), words.Size(here.Memory))}
	if of.Tasks > 1 {
		f.Note += fmt.Sprintf(" of each of its %d tasks here", of.Tasks)
	}
	return []Finding{f}
}

func Server() Finding {
	f := Finding{What: "temporal server"}
	switch p, err := devserver.Find(); {
	case errors.Is(err, devserver.ErrNoServer):
		f.Note, f.Do = devserver.ErrNoServer.Error(), devserver.Get()+" (or use a cluster: --temporal-address)"
	case err != nil:
		f.Note, f.Do = err.Error(), "check that path, or unset it"
	default:
		f.OK, f.Note = true, p+", Temporal "+devserver.Temporal(p)
	}
	return f
}

// Cluster checks that the queues at place are polled; dialed is why it was not reached, worker starts a queue's worker.
func Cluster(place string, dialed error, polled func(queue string) (bool, error), worker func(queue string) string) []Finding {
	if dialed != nil {
		return []Finding{{What: "cluster", Note: dialed.Error(), Do: "check --temporal-address, the profile and its TLS; `temporal operator cluster health` asks the cluster itself"}}
	}
	found := []Finding{{What: "cluster", OK: true, Note: place}}
	for _, queue := range []string{workflows.TaskQueue, workflows.GPUTaskQueue} {
		is, err := polled(queue)
		if err != nil {
			return []Finding{{What: "cluster", Note: place + ": " + err.Error(), Do: "check --temporal-namespace, and whether the account may use it"}}
		}
		w := Finding{What: "workers", OK: is, Soft: true, Note: fmt.Sprintf("queue %s is polled", queue)}
		if !is {
			w.Note, w.Do = "no worker polls queue "+queue, worker(queue)
		}
		found = append(found, w)
	}
	return found
}

// PayloadKey checks the file that a run would encrypt with, and shows the ids of its keys, or why it cannot be read.
func PayloadKey(file string, ids []string, err error) Finding {
	if err != nil {
		return Finding{What: "payload key", Note: err.Error(), Do: "give the file that the other processes of the run use, readable only by you; `(umask 077; openssl rand -hex 32 > FILE)` makes a new one"}
	}
	return Finding{What: "payload key", OK: true, Note: fmt.Sprintf("%s: %s, %s encrypts", file, words.Count(len(ids), "key"), ids[0])}
}

// Key checks the user's signing key, nil: none; read is why it could not be read, revoked that it does not count here.
func Key(k *signature.Private, revoked bool, read error) Finding {
	f := Finding{What: "signing key", OK: true, Soft: true}
	switch {
	case read != nil:
		f.OK, f.Soft, f.Note, f.Do = false, false, read.Error(), "set REDSI_SIGNING_KEY to a key made by redsi key new, or unset it"
	case k == nil:
		f.Note = "none; results are not signed"
	default:
		f.Note = k.Public().String()
		if revoked {
			f.OK, f.Do = false, "this key is revoked here, so its signatures do not count: make another one with redsi key new --out FILE"
		}
	}
	return f
}

// Trust says which keys are trusted; err is why there is no policy.
func Trust(p artifacts.Policy, err error) Finding {
	f := Finding{What: "trust", OK: true}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		f.OK, f.Note, f.Do = false, err.Error(), "correct the results block, --trust or --untrusted"
		return f
	}
	names := lists.Map(p.Ring.Trusted, func(k signature.Public) string { return k.Name })
	f.Note = "results in other stores that no trusted key signed: " + string(cmp.Or(p.Foreign, artifacts.RunUntrusted))
	if len(names) > 0 {
		f.Note = "trusts " + strings.Join(names, ", ") + "; " + f.Note
	}
	if n := len(p.Ring.Revoked); n > 0 {
		f.Note += fmt.Sprintf("; %s revoked", words.Count(n, "key"))
	}
	return f
}

// asksFor is a key without a result anywhere.
var asksFor = artifacts.Sum([]byte("redsi doctor asks whether anybody answers"))

// Others asks each other store for a result that does not exist.
func Others(ctx context.Context, addresses []string, required bool) (found []Finding) {
	for _, address := range addresses {
		f := Finding{What: "from", Soft: !required, Note: open.Shown(address)}
		ctx, cancel := context.WithTimeout(ctx, AnswersWithin)
		began := time.Now()
		o, err := open.Other(address)
		if err == nil {
			_, err = o.Records.Get(ctx, artifacts.ResultName(asksFor))
		}
		cancel()
		if err == nil || errors.Is(err, artifacts.ErrNotExist) {
			f.OK, f.Note = true, fmt.Sprintf("%s answers in %s", f.Note, words.Seconds(time.Since(began)))
		} else {
			f.Note, f.Do = f.Note+": "+err.Error(), "check the address; while it does not answer, each plan says what it may have"
		}
		found = append(found, f)
	}
	return found
}

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

func versionOf(ctx context.Context, program string) string {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	v := struct{ Revision string }{revision.Unknown}
	if out, err := exec.CommandContext(ctx, program, "version", "--json").Output(); err == nil {
		_ = json.Unmarshal(out, &v) // none: an unknown version
	}
	return v.Revision
}
