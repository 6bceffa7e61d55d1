package nvidia

import (
	"os"
	"slices"
)

// Process is what the driver gives this process: the cards in the order in which it counts
// them, which CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER decide. Card N is cuda:N.
type Process struct {
	CUDA  Version // the newest that the driver is for
	Cards []Card  // Free is not told
	Why   string  // why there are none; "" if there are
}

// VisibleVariable names the cards that a process may use, by number or UUID; set and
// empty, none.
const VisibleVariable = "CUDA_VISIBLE_DEVICES"

// Signs reports whether this machine may have a card: its driver has left something. Nothing
// is loaded to know that.
func Signs() bool {
	return slices.ContainsFunc([]string{"/dev/nvidiactl", "/proc/driver/nvidia", "/dev/nvidia0", "/dev/dxg"}, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}
