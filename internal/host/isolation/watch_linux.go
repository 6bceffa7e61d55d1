package isolation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watch is told each system call of a program that could reach outside, before the kernel does it, and lets it go on:
// the watch only reports, denying is left to the file system and Landlock. A program that changes a path in its memory
// while the call is being told goes unseen.
type watch struct {
	box   Box
	reads []string
	log   log
	fd    int
	began bool // the program's own start has been told
}

// call is struct seccomp_notif.
type call struct {
	id    uint64
	pid   uint32
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// reply is struct seccomp_notif_resp.
type reply struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

// run answers calls until nothing is watched any more, or until stop is closed at its other end.
func (w *watch) run(stop int) {
	for {
		fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); errors.Is(err, unix.EINTR) {
			continue
		} else if err != nil {
			w.log.gap("the watch broke off: " + err.Error())
			return
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var c call
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&c))); errno != 0 {
			if errno == unix.ENOENT || errno == unix.EINTR { // the caller is gone
				continue
			}
			w.log.gap("the watch broke off: " + errno.Error())
			return
		}
		w.see(&c)
		r := reply{id: c.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	}
}

// see adds to the log what a call does outside.
func (w *watch) see(c *call) {
	a, ok := acts[int(c.nr)]
	if !ok {
		a, ok = legacyActs[int(c.nr)]
	}
	if !ok {
		return
	}
	if a.kind == "run" && !w.began { // the helper's own, whose memory may not be read
		w.began = true
		return
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", c.pid))
	if err != nil {
		if _, gone := os.Stat(fmt.Sprintf("/proc/%d", c.pid)); gone == nil {
			w.log.gap("some calls could not be read: " + err.Error())
		}
		return
	}
	defer memory.Close()
	switch a.kind {
	case "uring":
		w.log.gap("it uses io_uring, through which it may do what was not seen")
	case "connect", "listen":
		w.address(a.kind, c, memory, c.args[a.path], c.args[a.path+1])
	case "message":
		head := make([]byte, 16) // struct msghdr: the address and its length
		if _, err := memory.ReadAt(head, int64(c.args[a.path])); err == nil {
			w.address("connect", c, memory, binary.NativeEndian.Uint64(head), uint64(binary.NativeEndian.Uint32(head[8:])))
		}
	case "open":
		w.open(a, c, memory, c.args[a.flag])
	case "openat2":
		flags := make([]byte, 8) // which struct open_how begins with; zeros where they cannot be read
		_, _ = memory.ReadAt(flags, int64(c.args[a.flag]))
		w.open(a, c, memory, binary.NativeEndian.Uint64(flags))
	default:
		w.path(a.kind, c, memory, a.dir, a.path, false)
		if a.also > 0 && a.dir >= 0 {
			w.path(a.kind, c, memory, a.also-1, a.also, true)
		} else if a.also > 0 {
			w.path(a.kind, c, memory, -1, a.also, true)
		}
	}
}

func (w *watch) open(a act, c *call, memory *os.File, flags uint64) {
	what := "read"
	if flags&unix.O_ACCMODE != unix.O_RDONLY || flags&(unix.O_CREAT|unix.O_TRUNC) != 0 {
		what = "write"
	}
	w.path(what, c, memory, a.dir, a.path, flags&unix.O_CREAT != 0)
}

// outOfProc are paths that lead out of /proc by links of the process itself.
var outOfProc = regexp.MustCompile(`^/+proc/+(self|thread-self|\d+)/+(root|cwd)/+(.*)$`)

// path adds to the log a path that a call names, if the call may not do what it does there.
func (w *watch) path(what string, c *call, memory *os.File, dir, arg int, makes bool) {
	name := text(memory, c.args[arg])
	if name == "" {
		return
	}
	if !filepath.IsAbs(name) {
		base := fmt.Sprintf("/proc/%d/cwd", c.pid)
		if dir >= 0 && int32(c.args[dir]) != unix.AT_FDCWD {
			base = fmt.Sprintf("/proc/%d/fd/%d", c.pid, int32(c.args[dir]))
		}
		from, err := os.Readlink(base)
		if err != nil || !filepath.IsAbs(from) {
			return
		}
		name = filepath.Join(from, name)
	}
	if m := outOfProc.FindStringSubmatch(name); m != nil {
		dir, base := filepath.Split(m[3])
		if real, err := filepath.EvalSymlinks(fmt.Sprintf("/proc/%d/%s/%s", c.pid, m[2], dir)); err == nil {
			name = filepath.Join(real, base)
		}
	}
	if !w.still(c) {
		return
	}
	name = filepath.Clean(name)
	real, ok := there(w.box.seen(name, w.reads), what == "write", makes)
	if !ok { // the program may see another file there than this process
		real, ok = there(name, what == "write", makes)
	}
	if ok && !w.allowed(what, name, real) {
		w.log.add(what, real)
	}
}

// there returns the path without links of a file that exists, or that may be created since its folder exists.
func there(path string, write, makes bool) (string, bool) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, true
	}
	if !write && !makes {
		return "", false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	real := filepath.Join(folder, filepath.Base(path))
	_, err = os.Lstat(real)
	return real, err == nil || makes
}

// seen returns this process's path of what the program sees at a path.
func (b Box) seen(path string, reads []string) string {
	if b.Mode != Enforce || under(path, reads) {
		return path
	}
	for at, from := range map[string]string{Folder: b.Dir, "/tmp": filepath.Join(b.Dir, "tmp")} {
		if under(path, []string{at}) {
			return from + strings.TrimPrefix(path, at)
		}
	}
	return path
}

// own are places of the program itself, or of everybody: reading them tells nothing about what lies on a disk.
var own = []string{"/proc", "/dev/shm", "/dev/tty", "/dev/pts", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/ptmx"}

func (w *watch) allowed(what, name, real string) bool {
	mine := under(real, []string{w.box.Dir}) || under(real, devices) || under(name, own) || under(real, own)
	if what == "write" {
		return mine
	}
	return mine || under(real, w.reads)
}

// address adds to the log where a socket is connected to or listens.
func (w *watch) address(what string, c *call, memory *os.File, at, size uint64) {
	if at == 0 || size < 2 || size > 128 {
		return
	}
	if w.box.Mode == Enforce && what == "listen" {
		return // on the network of the box
	}
	b := make([]byte, size)
	if _, err := memory.ReadAt(b, int64(at)); err != nil {
		return
	}
	inet := func(ip netip.Addr) {
		port := binary.BigEndian.Uint16(b[2:])
		if w.box.Mode == Enforce && (ip.Unmap().IsLoopback() || ip.IsUnspecified()) && listens(c.pid, port) {
			return
		}
		w.log.add(what, netip.AddrPortFrom(ip, port).String())
	}
	switch family := binary.NativeEndian.Uint16(b); {
	case family == unix.AF_INET && size >= 8:
		inet(netip.AddrFrom4([4]byte(b[4:8])))
	case family == unix.AF_INET6 && size >= 24:
		inet(netip.AddrFrom16([16]byte(b[8:24])))
	case family == unix.AF_UNIX && size > 2:
		name := string(b[2:])
		if name[0] == 0 {
			w.log.add(what, fmt.Sprintf("unix:@%q", name[1:]))
			return
		}
		name, _, _ = strings.Cut(name, "\x00")
		if _, err := os.Stat(name); filepath.IsAbs(name) && (err == nil || what == "listen") && !under(w.box.seen(filepath.Clean(name), w.reads), []string{w.box.Dir}) {
			w.log.add(what, "unix:"+name)
		}
	}
}

// listens reports whether any process in the network of a process has a socket at a port.
func listens(pid uint32, port uint16) bool {
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		for line := range strings.Lines(string(b)) {
			words := strings.Fields(line)
			if len(words) > 3 && strings.HasSuffix(words[1], fmt.Sprintf(":%04X", port)) && (words[3] == "0A" || table[0] == 'u') {
				return true
			}
		}
	}
	return false
}

// still reports whether a call still waits for its answer, so that the memory that was read is its process's.
func (w *watch) still(c *call) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.fd), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&c.id)))
	return errno == 0
}

// text reads memory up to a zero byte, page by page, since the next page may not exist.
func text(memory *os.File, at uint64) string {
	const page, longest = 4096, 4096
	var s []byte
	for len(s) < longest {
		b := make([]byte, page-at%page)
		n, err := memory.ReadAt(b, int64(at))
		if i := strings.IndexByte(string(b[:n]), 0); i >= 0 {
			return string(append(s, b[:i]...))
		}
		if err != nil {
			return ""
		}
		s, at = append(s, b[:n]...), at+uint64(n)
	}
	return ""
}
