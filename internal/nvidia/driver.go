package nvidia

// Process is what the driver gives this process: the cards in the order in which it counts
// them, which CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER decide. Card N is cuda:N.
type Process struct {
	CUDA  Version // the newest that the driver is for
	Cards []Card  // Free is not told
	Why   string  // why there are none; "" if there are
}

// visibleVariable names the cards that a process may use, by number or UUID; set and
// empty, none.
const visibleVariable = "CUDA_VISIBLE_DEVICES"
