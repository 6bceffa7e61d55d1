//go:build !linux

package usage

// resident is not known: this system tells the most that there was.
func resident() func() (int64, bool) { return nil }
