package attest

import "golang.org/x/sys/unix"

// cpuModel is what the kernel calls the processor.
func cpuModel() string {
	s, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return s
}
