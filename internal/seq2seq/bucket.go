//go:build !notorch

package seq2seq

// A card is asked for a training step at once where one of the same shapes was recorded. So batches
// are filled up, with sequences of padding whose labels are ignored, until their shapes are one of few.

// widths are places of a layout for a sequence; 0: as many as the longest needs.
type widths struct{ inputs, labels int64 }

const (
	coarse  = 16 // rows are filled up to a multiple of the power of two at or below this part of them
	atLeast = 8  // that multiple at the least, and what places are a multiple of
)

// fill adds sequences of padding to a batch. Rows and places grow to the next multiple of what coarse and
// atLeast say; where all sequences are one token long, rows grow by one for each that is added.
func fill(b Batch, pad int32) (Batch, widths) {
	in, out := sideOf(b.Inputs), sideOf(b.Labels)
	n := max(in.needs(), out.needs())
	for !in.fits(n) || !out.fits(n) {
		n *= 2
	}
	filled := Batch{
		Inputs: append(append([][]int32(nil), b.Inputs...), in.sequences(n, pad)...),
		Labels: append(append([][]int32(nil), b.Labels...), out.sequences(n, Ignore)...),
	}
	return filled, widths{in.places, out.places}
}

// side is the inputs of a batch, or its labels.
type side struct{ rows, longest, unit, places int64 }

func sideOf(sequences [][]int32) (s side) {
	for _, q := range sequences {
		s.rows += int64(len(q))
		s.longest = max(s.longest, int64(len(q)))
	}
	if s.longest == 1 {
		s.unit, s.places = 1, 1
		return s
	}
	s.unit = atLeast
	for 2*s.unit <= s.rows/coarse {
		s.unit *= 2
	}
	s.places = upTo(s.longest, atLeast)
	return s
}

func upTo(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// needs is how many sequences mostly have place for what is filled up, however much it is. It depends on
// rows and places alone, so that batches of the same have as many.
func (s side) needs() int64 {
	between := max(s.places-atLeast/2, 1) // as long as the longest may well be
	return max(1, (s.unit-1+between-1)/between)
}

// adds is how many rows n sequences have together.
func (s side) adds(n int64) int64 { return upTo(s.rows+n, s.unit) - s.rows }

// fits: n sequences, none longer than the longest, have these rows.
func (s side) fits(n int64) bool { return s.adds(n) <= n*s.longest }

// sequences are n of token.
func (s side) sequences(n int64, token int32) [][]int32 {
	all, left := make([][]int32, n), s.adds(n)
	for i := range all {
		size := left / (n - int64(i))
		left -= size
		all[i] = make([]int32, size)
		for j := range all[i] {
			all[i][j] = token
		}
	}
	return all
}
