package attest

import "golang.org/x/sys/unix"

// cpuModel returns the kernel's name for the processor; "" if it has none.
func cpuModel() string {
	s, _ := unix.Sysctl("machdep.cpu.brand_string")
	return s
}
