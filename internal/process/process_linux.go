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
)

// startOf reads when a process started, in ticks since the boot.
func startOf(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", ErrGone
	}
	if err != nil {
		return "", err
	}
	// The name, in parentheses, may hold anything; what follows it are words.
	words := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(words) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(words))
	}
	if words[0] == "Z" || words[0] == "X" {
		return "", ErrGone
	}
	return words[19], nil
}

func bootID() (boot, numbers string, err error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", "", err
	}
	numbers, err = os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(b)), numbers, err
}

// Given lists this user's processes that were started with HOME or TMPDIR in a
// folder: what a program that was given them has started, wherever it went since.
func Given(dir string) ([]Identity, error) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []Identity
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		info, err := e.Info()
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Getuid()) || !given(pid, dir) {
			continue
		}
		if id, err := Of(pid); err == nil {
			found = append(found, id)
		}
	}
	return found, nil
}

// given reads the environment that the kernel keeps of a process's start; of one
// that may not be read, there is none.
func given(pid int, dir string) bool {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for v := range strings.SplitSeq(string(env), "\x00") {
		name, value, _ := strings.Cut(v, "=")
		if (name == "HOME" || name == "TMPDIR") && (value == dir || strings.HasPrefix(value, dir+"/")) {
			return true
		}
	}
	return false
}
