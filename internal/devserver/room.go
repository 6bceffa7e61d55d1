package devserver

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/redsi/redsi/internal/system"
)

// A server is not started with less than roomNeeded bytes free: an empty database
// has 600 kB, and what is written goes to a log of a few megabytes first. One that
// has less than roomFull does not get on.
const (
	roomNeeded = 8 << 20
	roomFull   = 256 << 10
)

// shortage says what to do about the disk of a folder with less than so many bytes
// free; "" if it has more, or the system does not tell.
func shortage(dir string, least int64) string {
	free, ok := system.Free(dir)
	if !ok || free >= least {
		return ""
	}
	return fmt.Sprintf("the disk of %s has %d kB left: free space there", dir, free>>10)
}

// explainFull adds to an error of a full disk what to do about it.
func explainFull(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: free space or raise the quota of %s, or use another folder with --state", err, dir)
	}
	return err
}
