package isolation

import (
	"errors"
	"maps"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// act is what a system call does, and where it says with what.
type act struct {
	kind string // "open", "openat2", "read", "write", "run", "connect", "listen", "message" or "uring"
	dir  int    // argument that has the folder's descriptor; none: -1
	path int    // argument that has the path or address
	also int    // argument that has a second path, after the argument for its folder if dir has one; 0: none
	flag int    // argument that has the flags of an open
}

// acts are the system calls that are watched, on every processor.
var acts = map[int]act{
	unix.SYS_OPENAT:         {kind: "open", dir: 0, path: 1, flag: 2},
	unix.SYS_OPENAT2:        {kind: "openat2", dir: 0, path: 1, flag: 2},
	unix.SYS_TRUNCATE:       {kind: "write", dir: -1, path: 0},
	unix.SYS_EXECVE:         {kind: "run", dir: -1, path: 0},
	unix.SYS_EXECVEAT:       {kind: "run", dir: 0, path: 1},
	unix.SYS_UNLINKAT:       {kind: "write", dir: 0, path: 1},
	unix.SYS_MKDIRAT:        {kind: "write", dir: 0, path: 1},
	unix.SYS_MKNODAT:        {kind: "write", dir: 0, path: 1},
	unix.SYS_RENAMEAT2:      {kind: "write", dir: 0, path: 1, also: 3},
	unix.SYS_LINKAT:         {kind: "write", dir: 0, path: 1, also: 3},
	unix.SYS_SYMLINKAT:      {kind: "write", dir: 1, path: 2},
	unix.SYS_FCHMODAT:       {kind: "write", dir: 0, path: 1},
	unix.SYS_FCHMODAT2:      {kind: "write", dir: 0, path: 1},
	unix.SYS_FCHOWNAT:       {kind: "write", dir: 0, path: 1},
	unix.SYS_UTIMENSAT:      {kind: "write", dir: 0, path: 1},
	unix.SYS_SETXATTR:       {kind: "write", dir: -1, path: 0},
	unix.SYS_CONNECT:        {kind: "connect", path: 1},
	unix.SYS_BIND:           {kind: "listen", path: 1},
	unix.SYS_SENDTO:         {kind: "connect", path: 4},
	unix.SYS_SENDMSG:        {kind: "message", path: 1},
	unix.SYS_SENDMMSG:       {kind: "message", path: 1},
	unix.SYS_IO_URING_SETUP: {kind: "uring"},
}

// filter is the program that the kernel runs at each system call: calls in acts are told, all others pass, as do calls
// of another architecture (32-bit programs).
func filter() []unix.SockFilter {
	const nr, arch = 0, 4 // offsets in struct seccomp_data
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(what uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}
	}
	calls := slices.AppendSeq(slices.Collect(maps.Keys(acts)), maps.Keys(legacyActs))
	slices.Sort(calls)
	prog := []unix.SockFilter{
		load(arch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		give(unix.SECCOMP_RET_ALLOW),
		load(nr),
	}
	for i, n := range calls { // a match jumps over the other calls and the allowance
		prog = append(prog, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(n), Jt: uint8(len(calls) - i)})
	}
	return append(prog, give(unix.SECCOMP_RET_ALLOW), give(unix.SECCOMP_RET_USER_NOTIF))
}

// listen has this thread, and what it starts, watched by the reader of the descriptor that it returns.
func listen() (int, error) {
	prog := filter()
	p := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	// Where the kernel can (Linux 6.0), signals do not interrupt a call that is being told, lest a program repeat it.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&p)))
		if errno == 0 {
			return int(fd), nil
		}
		if !errors.Is(errno, unix.EINVAL) {
			return 0, errno
		}
	}
	return 0, unix.EINVAL
}
