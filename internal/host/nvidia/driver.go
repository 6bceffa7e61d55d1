package nvidia

import (
	"os"
	"slices"
)

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
