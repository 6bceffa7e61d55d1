package capacity

import "golang.org/x/sys/unix"

// physical is the machine's memory in bytes; 0 if the system does not say.
func physical() int64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(n)
}
