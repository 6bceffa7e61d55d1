// Package isolation runs a program so that it meets only its own folder and the system's programs and libraries: files
// outside and the network are watched, or absent. Files from outside can be mounted in its folder, isolated or not.
//
// It owns what is allowed, how the kernel is asked for it, and the findings. It must not know what a step is, nor what
// the program is for.
package isolation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Mode is how strictly a program is kept to its folder.
type Mode string

// The modes.
const (
	Off     Mode = "off"     // it runs as it is
	Warn    Mode = "warn"    // it runs as it is; what it does outside is reported
	Enforce Mode = "enforce" // what is outside is absent; what it tries there is reported
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

// Findings lists what was found, in the order of the first times.
type Findings struct {
	List []Finding
	More int      // further different findings, beyond mostFindings
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

// under reports whether path is in list, or below a path of it.
func under(path string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}

// log collects findings. Only the watch writes to it, until its end.
type log struct {
	found Findings
	index map[[2]string]int // places in found.List; -1 for a finding that is only counted
}

func (l *log) add(what, where string) {
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
	if !slices.Contains(l.found.Gaps, text) {
		l.found.Gaps = append(l.found.Gaps, text)
	}
}

// Bind is a file that a program sees, read-only, in the place of another.
type Bind struct {
	From string // the file
	To   string // an empty file in the program's folder
}

// BindError says that binds could not be mounted here. The program has not begun, and can with copies in their places.
type BindError struct{ Err error }

func (e *BindError) Error() string {
	return fmt.Sprintf("show the program its inputs where they are: %v", e.Err)
}

func (e *BindError) Unwrap() error { return e.Err }
