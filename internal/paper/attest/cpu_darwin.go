package attest

import "golang.org/x/sys/unix"

// cpuModel is the kernel's name for the processor.
func cpuModel() string {
	s, _ := unix.Sysctl("machdep.cpu.brand_string") // "" where there is none
	return s
}
