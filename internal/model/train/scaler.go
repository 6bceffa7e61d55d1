package train

// Scaler chooses the factor by which an fp16 loss is multiplied, so that small
// gradients do not vanish (torch's GradScaler with its defaults).
type Scaler struct {
	Scale float64 `json:"scale"`
	Good  int     `json:"good"` // updates since the factor changed
}

// NewScaler starts at 65,536.
func NewScaler() Scaler { return Scaler{Scale: 65536} }

// Update takes note of an update. With finite gradients it is made, and after
// 2,000 such the factor doubles; otherwise it is left out and the factor halves.
func (s *Scaler) Update(finite bool) {
	if !finite {
		s.Scale, s.Good = s.Scale/2, 0
		return
	}
	if s.Good++; s.Good == 2000 {
		s.Scale, s.Good = s.Scale*2, 0
	}
}
