package amp_test

import "testing"

// gradScaler is torch's GradScaler with its defaults, one update after another.
type gradScaler struct {
	Scale float64
	Good  int // updates since the factor changed
}

// Update takes note of an update. With finite gradients it is made, and after
// 2,000 such the factor doubles; otherwise it is left out and the factor halves.
func (s *gradScaler) Update(finite bool) {
	if !finite {
		s.Scale, s.Good = s.Scale/2, 0
		return
	}
	if s.Good++; s.Good == 2000 {
		s.Scale, s.Good = s.Scale*2, 0
	}
}

func TestGradScaler(t *testing.T) {
	s := gradScaler{Scale: 65536}
	s.Update(false)
	if s.Scale != 32768 {
		t.Errorf("after an overflow the factor is %v", s.Scale)
	}
	for range 2000 {
		s.Update(true)
	}
	if s.Scale != 65536 || s.Good != 0 {
		t.Errorf("after 2,000 updates it is %v", s)
	}
}
