package capacity

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Here is what this process may use of its machine: processors as the scheduler and control
// groups give them, and memory; cards are not told. Memory is 0 where the system does not say.
func Here() Amount {
	a := Amount{CPUs: runtime.NumCPU(), Memory: physical()}
	return a.within(os.DirFS("/"))
}

// within is an amount as far as the control groups of this process allow it, of version 2 or
// 1, by the files of a Linux system. The narrowest of a group and those around it counts.
func (a Amount) within(system fs.FS) Amount {
	if n := number(field(system, "proc/meminfo", "MemTotal:")); n > 0 {
		a.Memory = n << 10
	}
	for _, g := range groups(system) {
		memory, quota, period := g.numbers(system)
		if memory > 0 && (a.Memory == 0 || memory < a.Memory) {
			a.Memory = memory
		}
		if quota > 0 && period > 0 {
			a.CPUs = min(a.CPUs, max(1, int((quota+period-1)/period)))
		}
	}
	return a
}

// group is the folder of a control group.
type group struct {
	folder string
	first  bool // version 1
}

// groups are those of this process, each with those around it as far as they are mounted.
func groups(system fs.FS) (all []group) {
	text, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	add := func(root, name string, first bool) {
		for {
			all = append(all, group{path.Join(root, name), first})
			if name == "/" || name == "." || name == "" {
				return
			}
			name = path.Dir(name)
		}
	}
	const mounted = "sys/fs/cgroup"
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[1] == "" {
			add(mounted, parts[2], false)
			add(mounted+"/unified", parts[2], false)
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" || controller == "cpu" {
				add(mounted+"/"+controller, parts[2], true)
			}
		}
	}
	return all
}

// numbers are the limits of a group; 0: none. Version 1 writes a number of nearly 2^63 for
// no limit of memory, and -1 for none of time.
func (g group) numbers(system fs.FS) (memory, quota, period int64) {
	if g.first {
		return number(first(system, g.folder+"/memory.limit_in_bytes")), number(first(system, g.folder+"/cpu.cfs_quota_us")), number(first(system, g.folder+"/cpu.cfs_period_us"))
	}
	cpu, _ := fs.ReadFile(system, g.folder+"/cpu.max") // "max 100000" or "200000 100000"
	if of := strings.Fields(string(cpu)); len(of) == 2 {
		quota, period = number(of[0]), number(of[1])
	}
	return number(first(system, g.folder+"/memory.max")), quota, period
}

// Kills counts the processes that the system has ended since it had no memory left for
// them: in this process's control group and those in it, or, where that has no counter, on
// the whole machine. Not ok: nobody counts them.
func Kills() (n int64, ok bool) { return kills(os.DirFS("/")) }

func kills(system fs.FS) (n int64, ok bool) {
	for _, g := range groups(system) {
		file := "/memory.events"
		if g.first {
			file = "/memory.oom_control"
		}
		if text := field(system, g.folder+file, "oom_kill"); text != "" {
			return number(text), true
		}
	}
	text := field(system, "proc/vmstat", "oom_kill")
	return number(text), text != ""
}

// field is the word after a name that begins a line of a file; "" if there is none.
func field(system fs.FS, file, name string) string {
	text, err := fs.ReadFile(system, file)
	if err != nil {
		return ""
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if of := strings.Fields(s.Text()); len(of) > 1 && of[0] == name {
			return of[1]
		}
	}
	return ""
}

// first is the first word of a file; "" if there is none.
func first(system fs.FS, file string) string {
	text, _ := fs.ReadFile(system, file)
	word, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return word
}

// number is a whole number above 0, as long as it can be one of bytes or microseconds; else 0.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n >= 1<<62 {
		return 0
	}
	return n
}
