//go:build notorch

package device

// UseThreads has no effect: this build computes nothing on several threads.
func UseThreads(int) {}

// ThreadsMatter is false: nothing depends on what has no effect.
func ThreadsMatter() bool { return false }

// Threads is 1.
func Threads() int { return 1 }

// Capability is "": nothing is computed.
func Capability() string { return "" }
