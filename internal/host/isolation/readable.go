package isolation

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// systemReads are a system's programs, libraries and their data: what every program reads and no result should depend
// on. Links among them count as what they lead to.
var systemReads = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
	"/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
	"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/ssl/openssl.cnf", "/etc/fonts", "/etc/terminfo", "/etc/perl", "/etc/R", "/etc/locale.alias",
	"/etc/python3*", "/etc/java*",
	"/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage",
	"/sys/fs/cgroup", // limits of processors and memory, by which libraries choose their threads
}

// devices may be read and written.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// link is a symbolic link: its path, without links, and its target as written.
type link struct{ At, To string }

// readable lists what may be read under Warn and Enforce, as paths that exist and have no links in them, and the links
// by which they are named.
func (b Box) readable() (reads []string, links []link, err error) {
	if b.Mode == Off {
		return nil, nil, nil
	}
	list := []string{b.Program}
	for _, p := range systemReads {
		found, err := filepath.Glob(p)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, found...)
	}
	list = append(list, installation(b.Program)...)
	if i := interpreter(b.Program); i != "" {
		list = append(append(list, i), installation(i)...)
	}
	for _, p := range b.Reads {
		if _, err := os.Stat(p); err != nil {
			return nil, nil, fmt.Errorf("isolation_reads: %w", err)
		}
		list = append(append(list, p), environment(p)...)
	}
	for _, p := range list {
		real, passed, err := follow(p)
		if errors.Is(err, os.ErrNotExist) {
			continue // a link to nothing
		}
		if err != nil {
			return nil, nil, err
		}
		if real == "/" {
			return nil, nil, errors.New("isolation_reads: / is everything: use isolation = \"off\"")
		}
		reads, links = append(reads, real), append(links, passed...)
	}
	slices.Sort(reads)
	return slices.Compact(reads), links, nil
}

// follow resolves an absolute path and lists the links on the way.
func follow(path string) (real string, links []link, err error) {
	const most = 255
	real = "/"
	for rest := strings.Split(path, "/"); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		at := filepath.Join(real, name)
		info, err := os.Lstat(at)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			real = at
			continue
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", nil, err
		}
		if links = append(links, link{at, to}); len(links) > most {
			return "", nil, &os.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, links, nil
}

// interpreter returns the program that a script's first line names; "" for a binary.
func interpreter(program string) string {
	line, _, _ := strings.Cut(beginning(program, 256), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}

// beginning returns the first bytes of a file; "" if it cannot be read.
func beginning(path string, most int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, most))
	return string(b)
}

// installation lists what belongs to an interpreter of Python: its virtual or conda environment, and Python's modules.
func installation(program string) []string {
	list := environment(filepath.Dir(filepath.Dir(program)))
	real, _, err := follow(program)
	if name := filepath.Base(real); err == nil && (strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")) {
		list = append(list, based(filepath.Dir(real))...)
	}
	return list
}

// environment lists a virtual environment's folder with the Python behind it, or a conda environment's; else nothing.
func environment(folder string) []string {
	if folder == "/" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(folder, "conda-meta")); err == nil {
		return []string{folder}
	}
	for line := range strings.Lines(beginning(filepath.Join(folder, "pyvenv.cfg"), 64<<10)) {
		name, value, _ := strings.Cut(line, "=")
		if home := strings.TrimSpace(value); strings.TrimSpace(name) == "home" && filepath.IsAbs(home) {
			return append([]string{folder}, based(home)...)
		}
	}
	return nil
}

// based lists what a Python in the folder bin needs, and nothing else that may lie beside that folder.
func based(bin string) []string {
	prefix := filepath.Dir(bin)
	if prefix == "/" {
		return nil // the system's, which is readable anyway
	}
	if _, err := os.Stat(filepath.Join(prefix, "conda-meta")); err == nil {
		return []string{prefix}
	}
	return []string{bin, filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64")}
}
