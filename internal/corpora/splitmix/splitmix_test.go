package splitmix

import "testing"

// TestFinish has the first numbers of Vigna's splitmix64.c with the state 1234567.
func TestFinish(t *testing.T) {
	state := uint64(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if state += Gamma; Finish(state) != want {
			t.Errorf("%d, want %d", Finish(state), want)
		}
	}
}
