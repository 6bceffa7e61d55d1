//go:build !linux

package usage

// resident is not known: this system tells the most that there was.
func resident() func() (int64, bool) { return nil }

// mostResident is the most memory that this process has had.
func mostResident() (int64, bool) {
	r, ok := self()
	return MaxMemory(&r), ok
}
