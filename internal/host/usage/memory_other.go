//go:build !linux

package usage

// resident returns nil: this system tells only the most that there was.
func resident() func() (int64, bool) { return nil }

// mostResident returns the most memory that this process has had.
func mostResident() (int64, bool) {
	r, ok := self()
	return MaxMemory(&r), ok
}
