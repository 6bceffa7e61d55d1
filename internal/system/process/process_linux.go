package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started, in ticks since the boot.
func startOf(pid int) (string, error) {
	words, err := stat(pid)
	if err != nil {
		return "", err
	}
	if words[0] == "Z" || words[0] == "X" {
		return "", ErrGone
	}
	return words[19], nil
}

// State returns the letter of a process's state, such as T for a stopped one; "" if the system does not say.
func State(pid int) string {
	words, err := stat(pid)
	if err != nil {
		return ""
	}
	return words[0]
}

// stat returns the fields of /proc/PID/stat from the process's state on.
func stat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	// The name, in parentheses, may hold anything; words follow.
	words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(words) < 20 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(words))
	}
	return words, nil
}

func bootID() (boot, numbers string, err error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", "", err
	}
	numbers, err = os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(b)), numbers, err
}

// Given lists this user's processes that were started with HOME or TMPDIR in a folder, or work in it: what leader, the
// program that was given the folder, has started, wherever it went since. Every program's end waits for Given: it asks
// the kernel as little as possible, and nothing about processes whose numbers say that they are older than leader.
func Given(dir string, leader Identity) ([]Identity, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var found []Identity
	mayBe := leader.younger()
	self := strconv.Itoa(os.Getpid())
	env := make([]byte, 1<<13)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || name == self || !mayBe(pid) {
			continue
		}
		if group, _ := syscall.Getpgid(pid); group == 0 { // only threads of the kernel have no group
			continue
		}
		var n int
		if env, n = environ(pid, env); !given(string(env[:n]), dir) && !worksIn("/proc/"+name+"/cwd", dir) {
			continue
		}
		info, err := os.Lstat("/proc/" + name)
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) {
			continue
		}
		if id, err := Of(pid); err == nil {
			found = append(found, id)
		}
	}
	return found, nil
}

// How fast Linux gives out numbers of processes at most, and how many in a row may be in use.
const (
	numbering = 2 * time.Microsecond // starting a process holds a lock of the system for longer
	inUse     = 4096
	reserved  = 300 // lower numbers are given out only once
)

// younger returns a test of the numbers that processes can have that started between i and now. Linux counts up to
// pid_max, then from reserved on. If i is of another boot or container, and after a while, any number is possible.
func (i Identity) younger() func(pid int) bool {
	here, err := Here()
	ticks, terr := strconv.Atoi(i.Start)
	b, rerr := os.ReadFile("/proc/sys/kernel/pid_max")
	most, merr := strconv.Atoi(strings.TrimSpace(string(b)))
	var now unix.Timespec
	if errors.Join(err, terr, rerr, merr, unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)) != nil || i.Boot != here.Boot || i.Numbers != here.Numbers {
		return anyNumber
	}
	return since(i.PID, time.Duration(now.Nano())-time.Duration(ticks)*(time.Second/100), most)
}

// since returns a test of the numbers below most that may have been given out in the time that has passed since first was.
func since(first int, passed time.Duration, most int) func(pid int) bool {
	last := first + int(passed/numbering) + inUse
	wrapped := last - most + reserved // the last number, if counting went past most
	switch {
	case passed < 0, first >= most, wrapped >= first:
		return anyNumber
	case last < most:
		return func(pid int) bool { return pid >= first && pid <= last }
	}
	return func(pid int) bool { return pid >= first || pid <= wrapped }
}

func anyNumber(int) bool { return true }

// worksIn reports whether a link to a working folder leads to dir, or into it.
func worksIn(link, dir string) bool {
	at, err := os.Readlink(link)
	return err == nil && (at == dir || strings.HasPrefix(at, dir+"/"))
}

// environ reads a process's environment at its start into b, which grows if need be, and returns its length; 0 if it may
// not be read. The environment is empty for a moment while a process becomes another program: the read is retried.
func environ(pid int, b []byte) ([]byte, int) {
	name := "/proc/" + strconv.Itoa(pid) + "/environ"
	for end := time.Now().Add(becoming); ; {
		env, n, err := readAll(name, b)
		if n > 0 || err != nil || hasNone(pid) || time.Now().After(end) {
			return env, n
		}
	}
}

// becoming is how long a process takes at most to become another program.
const becoming = time.Second

// hasNone reports whether a process has no environment and will have none: it has become its program, and the kernel
// says that the environment is empty; or it has ended.
func hasNone(pid int) bool {
	words, err := stat(pid)
	return err != nil || words[0] == "Z" || words[0] == "X" || len(words) <= envEnd || words[startCode] != "0" && words[envStart] == words[envEnd]
}

// Indices in stat's result of the fields that proc(5) numbers 26, 50 and 51. Linux sets start_code last.
const startCode, envStart, envEnd = 26 - 3, 50 - 3, 51 - 3

func readAll(name string, b []byte) ([]byte, int, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return b, 0, err
	}
	defer syscall.Close(fd)
	for n := 0; ; {
		more, err := syscall.Read(fd, b[n:])
		if err != nil || more <= 0 {
			return b, n, err
		}
		if n += more; n == len(b) {
			b = append(b, make([]byte, len(b))...)
		}
	}
}

func given(env, dir string) bool {
	for v := range strings.SplitSeq(env, "\x00") {
		name, value, _ := strings.Cut(v, "=")
		if (name == "HOME" || name == "TMPDIR") && (value == dir || strings.HasPrefix(value, dir+"/")) {
			return true
		}
	}
	return false
}
