package capacity

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Unknown is the memory of a machine that does not say what it has: everything fits.
const Unknown = 1 << 62

// Here is what this process may use of its machine: processors as Go's scheduler has them, by
// affinity and control groups, and memory; cards are not told.
func Here() Amount {
	return Amount{CPUs: runtime.GOMAXPROCS(0), Memory: memory(os.DirFS("/"), physical())}
}

// memory is the least of what the machine has, physical where no file says so, and what the
// control groups of this process allow.
func memory(system fs.FS, physical int64) int64 {
	least := cmp.Or(physical, Unknown)
	if kB, ok := number(system, "proc/meminfo", "MemTotal:"); ok {
		least = kB << 10
	}
	for _, g := range groups(system) {
		for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
			if n, ok := number(system, path.Join(g, file), ""); ok && n > 0 {
				least = min(least, n)
			}
		}
	}
	return least
}

// groups are the folders of the control groups that count this process's memory, of version
// 2 or 1, each with those around it.
func groups(system fs.FS) (folders []string) {
	text, _ := fs.ReadFile(system, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, name
		if len(parts) != 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), "memory") {
			continue
		}
		root := "sys/fs/cgroup"
		if parts[1] != "" {
			root = "sys/fs/cgroup/memory" // also where others are mounted with it
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

// Kills counts the processes that the system has ended since it had no memory left for
// them: in this process's control group and those in it, or, where that has no counter, on
// the whole machine; 0 if nobody counts them.
func Kills() int64 { return kills(os.DirFS("/")) }

func kills(system fs.FS) int64 {
	for _, g := range groups(system) {
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			if n, ok := number(system, path.Join(g, file), "oom_kill"); ok {
				return n
			}
		}
	}
	n, _ := number(system, "proc/vmstat", "oom_kill")
	return n
}

// number is the one that follows a word of a file, or, without a word, begins it.
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
