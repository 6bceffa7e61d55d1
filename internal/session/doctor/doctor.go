// Package doctor owns the checks of a machine and its settings for what redsi needs: each is
// a function that returns findings, with what to do where something is missing. What it
// checks is given or looked up here; it must not know flags, environment variables that name
// settings, or how findings are shown.
package doctor

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/revision"
)

// Levels of findings.
const (
	OK   = "ok"
	Warn = "warn" // only some uses need it
	Fail = "fail"
)

// Finding is the result of one check.
type Finding struct {
	What  string `json:"what"`
	OK    bool   `json:"ok"`
	Level string `json:"level"`          // of Leveled
	Note  string `json:"note"`           // what was found
	Do    string `json:"do,omitempty"`   // what to do about it
	Soft  bool   `json:"soft,omitempty"` // only some uses need it: a warning

	Card *nvidia.Card `json:"card,omitempty"` // that this is about
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

// Leveled gives each finding its level, and counts those that failed.
func Leveled(found []Finding) (failed int) {
	for i := range found {
		if found[i].Level = found[i].level(); found[i].Level == Fail {
			failed++
		}
	}
	return failed
}

// AnswersWithin bounds how long a server may take to answer.
const AnswersWithin = 10 * time.Second

// Build says what the program was built from, and how many kinds it has.
func Build(kinds int) Finding {
	return Finding{What: "redsi", OK: true, Note: fmt.Sprintf("revision %s, %s, %s/%s, %d kinds",
		revision.Of(), runtime.Version(), runtime.GOOS, runtime.GOARCH, kinds)}
}

// Cores says how many processors there are.
func Cores() Finding {
	f := Finding{What: "processors", OK: true, Soft: true, Note: fmt.Sprintf("%d, of which redsi uses %d; training uses those that no other step uses (--slots, --threads)", runtime.NumCPU(), runtime.GOMAXPROCS(0))}
	if n := os.Getenv("OMP_NUM_THREADS"); n != "" {
		f.Note += "; OMP_NUM_THREADS=" + n
	}
	return f
}

// Server looks for the program of the embedded server.
func Server() Finding {
	f := Finding{What: "temporal server"}
	p, err := devserver.Find()
	if err != nil {
		f.Note, f.Do = err.Error(), "make deps-embedded (or use a cluster: --temporal-address)"
		return f
	}
	f.OK, f.Note = true, p
	return f
}
