package devserver

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/redsi/redsi/internal/system"
)

// A server is not started with less than roomNeeded bytes free: an empty database has 600 kB, and writes go to a log of
// a few megabytes first. With less than roomFull a server cannot work.
const (
	roomNeeded = 8 << 20
	roomFull   = 256 << 10
)

// shortage says what to do if a folder's disk has less than so many bytes free; "" if it has more, or nobody knows.
func shortage(dir string, least int64) string {
	free, ok := system.Free(dir)
	if !ok || free >= least {
		return ""
	}
	return fmt.Sprintf("the disk of %s has %d kB left: free space there", dir, free>>10)
}

// explainFull adds advice to the error of a full disk.
func explainFull(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: free space or raise the quota of %s, or use another folder with --state", err, dir)
	}
	return err
}
