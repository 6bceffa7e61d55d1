//go:build notorch

package activities

// UseThreads has no effect: this build computes nothing on several threads.
func UseThreads(int) {}
