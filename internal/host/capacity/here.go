package capacity

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/host/allocation"
)

// Unknown is the memory of a machine that does not say what it has: everything fits.
const Unknown = 1 << 62

// Here returns what this process may use of its machine: the least of its affinity (or GOMAXPROCS), its control groups
// and its batch job. GPUs are the job's, 0 without a job that says; the machine's do not count.
func Here() Amount {
	return least(os.DirFS("/"), Amount{CPUs: runtime.GOMAXPROCS(0), Memory: physical()}, allocation.Here())
}

// least is Here for a machine that has so much, unless files of its system say otherwise.
func least(system fs.FS, has Amount, of allocation.Allocation) Amount {
	return Amount{CPUs: min(has.CPUs, quota(system), cmp.Or(of.CPUs, has.CPUs)),
		Memory: min(memory(system, has.Memory), cmp.Or(of.Memory, Unknown)), GPUs: of.GPUs}
}

// quota returns how many processors the control groups of this process allow, rounded up: Go's scheduler takes a quota
// of one for two.
func quota(system fs.FS) int {
	n := math.MaxInt
	for _, g := range groups(system, "cpu") {
		most, _ := number(system, path.Join(g, "cpu.cfs_quota_us"), "") // -1: none
		of, _ := number(system, path.Join(g, "cpu.cfs_period_us"), "")
		if text, err := fs.ReadFile(system, path.Join(g, "cpu.max")); err == nil { // "150000 100000", or "max 100000"
			_, _ = fmt.Sscan(string(text), &most, &of)
		}
		if most > 0 && of > 0 {
			n = min(n, int((most+of-1)/of))
		}
	}
	return n
}

// memory returns the least of the machine's memory, physical if no file tells it, and of what the control groups of this
// process allow.
func memory(system fs.FS, physical int64) int64 {
	least := cmp.Or(physical, Unknown)
	if kB, ok := number(system, "proc/meminfo", "MemTotal:"); ok {
		least = kB << 10
	}
	for _, g := range groups(system, "memory") {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if n, ok := number(system, path.Join(g, file), ""); ok && n > 0 {
				least = min(least, n)
			}
		}
	}
	return least
}

// groups returns the folders of the control groups of this process for a controller, "memory" or "cpu", of version 2 or
// 1, each followed by the groups around it.
func groups(system fs.FS, controller string) (folders []string) {
	text, _ := fs.ReadFile(system, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, name
		if len(parts) != 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), controller) {
			continue
		}
		root := "sys/fs/cgroup"
		if parts[1] != "" {
			root = "sys/fs/cgroup/" + controller // also where others are mounted with it
		}
		for name := path.Join("/", parts[2]); ; name = path.Dir(name) {
			folders = append(folders, path.Join(root, name))
			if name == "/" {
				break
			}
		}
	}
	return folders
}

// Kills counts the processes that the system has ended for want of memory: in this process's control group and groups in
// it, or on the whole machine where the group has no counter; 0 if nobody counts them.
func Kills() int64 { return kills(os.DirFS("/")) }

func kills(system fs.FS) int64 {
	for _, g := range groups(system, "memory") {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			if n, ok := number(system, path.Join(g, file), "oom_kill"); ok {
				return n
			}
		}
	}
	n, _ := number(system, "proc/vmstat", "oom_kill")
	return n
}

// number returns the number that follows a word in a file, or, without a word, that the file begins with.
func number(system fs.FS, file, word string) (n int64, ok bool) {
	text, _ := fs.ReadFile(system, file)
	all := append([]string{""}, strings.Fields(string(text))...)
	i := slices.Index(all, word)
	if i < 0 || i+1 == len(all) {
		return 0, false
	}
	n, err := strconv.ParseInt(all[i+1], 10, 64)
	return n, err == nil
}

// Load returns the system's load average of the last minute; false if the system does not tell.
func Load() (n float64, ok bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	return n, err == nil
}
