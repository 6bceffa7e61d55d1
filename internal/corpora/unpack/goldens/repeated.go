package goldens

import "io"

// Repeated reads a text Times times, and calls Before, if set, before each time with the number left.
type Repeated struct {
	Text   []byte
	Times  int
	Before func(left int)

	at int
}

func (r *Repeated) Read(p []byte) (int, error) {
	if r.at == len(r.Text) {
		r.Times, r.at = r.Times-1, 0
	}
	if r.Times == 0 {
		return 0, io.EOF
	}
	if r.at == 0 && r.Before != nil {
		r.Before(r.Times)
	}
	n := copy(p, r.Text[r.at:])
	r.at += n
	return n, nil
}
