package fit

import "testing"

func TestScaler(t *testing.T) {
	s := NewScaler()
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
