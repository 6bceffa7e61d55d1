package seq2seq

import "slices"

// A card is asked for a training step at once where one of the same shapes was recorded. So batches
// are filled up, with sequences of padding whose labels are ignored, until their shapes are one of few.

// widths are places of a layout for a sequence; 0: as many as the longest needs.
type widths struct{ inputs, labels int64 }

// unit is what a number grows to a multiple of: the power of two at or below one part of it, or least.
func unit(n, part, least int64) int64 {
	for 2*least <= n/part {
		least *= 2
	}
	return least
}

// fill adds sequences of padding to a batch. Rows grow by a 16th at the most, or 7, and one for each sequence that is
// added, places by a 32nd, or 3. Where all sequences are one token long, so are those.
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
type side struct {
	rows, longest int64
	places        int64 // of a sequence
	width         int64 // what those are a multiple of
	unit          int64 // what rows are
}

func sideOf(sequences [][]int32) (s side) {
	for _, q := range sequences {
		s.rows += int64(len(q))
		s.longest = max(s.longest, int64(len(q)))
	}
	if s.longest == 1 {
		s.unit, s.width, s.places = 1, 1, 1
		return s
	}
	s.unit, s.width = unit(s.rows, 16, 8), unit(s.longest, 32, 4)
	s.places = upTo(s.longest, s.width)
	return s
}

func upTo(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// needs is how many sequences mostly have place for what is filled up, however much it is. Only rows and places decide,
// so that batches with the same rows and places have as many.
func (s side) needs() int64 {
	between := max(s.places-s.width/2, 1) // as long as the longest may well be
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
		all[i] = slices.Repeat([]int32{token}, int(size))
	}
	return all
}
