package nvidia

import (
	"fmt"
	"os"
	"slices"
)

// Machine is what the management library says of this machine: its driver and all its cards, whether this process may
// use them or not.
type Machine struct {
	Driver string // its version, such as "580.95.05"
	CUDA   Version
	Cards  []Card
	Why    string // why there are none; "" if there are
}

// Card is a card of the machine.
type Card struct {
	Name       string  `json:"name"`
	UUID       string  `json:"uuid,omitempty"`
	Memory     int64   `json:"memory,omitempty"` // bytes; 0: not told
	Free       int64   `json:"free"`             // bytes of Memory, when it was asked
	Capability Version `json:"capability,omitzero"`

	Joules func() (float64, bool) `json:"-"` // the energy that it has taken; nil: it does not tell
}

// Version is a CUDA version or a compute capability: 13.0, 9.0. The zero value stands for an unknown one.
type Version struct{ Major, Minor int }

// CUDAVersion reads 13020 as NVIDIA's libraries write 13.2.
func CUDAVersion(n int) Version { return Version{n / 1000, n % 1000 / 10} }

// Less orders versions.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// MarshalText writes the version as people do.
func (v Version) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (v *Version) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "%d.%d", &v.Major, &v.Minor)
	return err
}

// Joules returns the energy that all cards have taken; ok is false unless each tells.
func (m Machine) Joules() (sum float64, ok bool) {
	for _, c := range m.Cards {
		if c.Joules == nil {
			return 0, false
		}
		j, ok := c.Joules()
		if !ok {
			return 0, false
		}
		sum += j
	}
	return sum, len(m.Cards) > 0
}

// Process is what the driver gives this process: the cards in the driver's order, which CUDA_VISIBLE_DEVICES and
// CUDA_DEVICE_ORDER decide. Card N is cuda:N.
type Process struct {
	CUDA  Version // the newest that the driver supports
	Cards []Card  // without Free
	Why   string  // why there are none; "" if there are
}

// VisibleVariable names the cards that a process may use, by number or UUID; none if it is set and empty.
const VisibleVariable = "CUDA_VISIBLE_DEVICES"

// Signs reports whether this machine may have a card, by files of its driver, without loading a library.
func Signs() bool {
	return slices.ContainsFunc([]string{"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/nvidia0", "/dev/dxg"}, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}
