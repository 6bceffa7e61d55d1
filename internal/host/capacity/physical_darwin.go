package capacity

import "golang.org/x/sys/unix"

// physical returns the machine's memory in bytes; 0 if the system does not say.
func physical() int64 {
	n, _ := unix.SysctlUint64("hw.memsize")
	return int64(n)
}
