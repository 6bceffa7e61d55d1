package attest

import "golang.org/x/sys/unix"

// cpuModel is the kernel's name for the processor.
func cpuModel() string {
	s, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return s
}
