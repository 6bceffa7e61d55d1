// Package isolation runs a program so that it meets its own folder, the system's
// programs and libraries, and nothing else: files outside and the network are
// watched, or are not there. Files outside can be mounted in its folder, isolated
// or not.
//
// It owns what is allowed, how the kernel is asked for it, and what was found. It
// must not know what a step is, nor what the program is for.
package isolation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Mode is how strictly a program is kept to its folder.
type Mode string

// The modes.
const (
	Off     Mode = "off"     // it runs as it is
	Warn    Mode = "warn"    // it runs as it is; what it does outside is found
	Enforce Mode = "enforce" // what is outside is not there; what it tries is found
)

// Folder is the path at which a program under Enforce sees its folder.
const Folder = "/redsi/step"

// Box is what a program is kept to.
type Box struct {
	Mode    Mode
	Dir     string   // its folder, a real path: it may do all there
	Program string   // path of its executable, which may lie anywhere
	Reads   []string // files and folders outside that it may read and execute
	Binds   []Bind   // files outside that it sees in its folder
}

// Path is the program's path of something in its folder.
func (b Box) Path(name string) string {
	if b.Mode == Enforce {
		return filepath.Join(Folder, name)
	}
	return filepath.Join(b.Dir, name)
}

// Finding is something that a program did, or tried to do, outside.
type Finding struct {
	What  string // "read", "write", "run", "connect", "listen"
	Where string // path, or address
	Times int
}

func (f Finding) String() string {
	if f.Times > 1 {
		return fmt.Sprintf("%s %s (%d times)", f.What, f.Where, f.Times)
	}
	return f.What + " " + f.Where
}

// Findings are what was found, in the order of its first time.
type Findings struct {
	List []Finding
	More int      // different ones beyond mostFindings
	Gaps []string // what was not watched
}

const mostFindings = 20_000

// SetupError says why a program could not be isolated as was asked.
type SetupError struct {
	Mode Mode
	Err  error
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("isolation = %q is not available on this worker, so the program did not run: %v", e.Mode, e.Err)
}

func (e *SetupError) Unwrap() error { return e.Err }

// under reports whether path is one of list or below it.
func under(path string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// log collects findings.
type log struct {
	mu    sync.Mutex
	found Findings
	index map[[2]string]int
}

func (l *log) add(what, where string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.index == nil {
		l.index = map[[2]string]int{}
	}
	k := [2]string{what, where}
	i, ok := l.index[k]
	switch {
	case ok && i < 0:
	case ok:
		l.found.List[i].Times++
	case len(l.found.List) < mostFindings:
		l.index[k] = len(l.found.List)
		l.found.List = append(l.found.List, Finding{what, where, 1})
	case l.found.More < 5*mostFindings:
		l.index[k] = -1
		l.found.More++
	}
}

func (l *log) gap(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.found.Gaps, text) {
		l.found.Gaps = append(l.found.Gaps, text)
	}
}

func (l *log) findings() Findings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Findings{slices.Clone(l.found.List), l.found.More, slices.Clone(l.found.Gaps)}
}
