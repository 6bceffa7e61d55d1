package train

// Schedule is a constant learning rate after a linear warmup
// (transformers.get_constant_schedule_with_warmup).
type Schedule struct {
	Rate   float64
	Warmup int64 // steps; 0: none
}

// At is the learning rate of a step, counted from 0. The first of a warmup is 0.
func (s Schedule) At(step int64) float64 {
	if step < s.Warmup {
		return s.Rate * float64(step) / float64(s.Warmup)
	}
	return s.Rate
}
