package npy

import "fmt"

// Matrix is a dense row-major matrix: Data has Rows*Cols numbers.
type Matrix struct {
	Data []float32
	Rows int
	Cols int
}

// Row returns row i, which shares the matrix's memory.
func (m Matrix) Row(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Check returns an error if the fields do not fit together.
func (m Matrix) Check() error {
	if m.Rows < 0 || m.Cols < 1 || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("a matrix of %d rows and %d columns needs %d numbers, it has %d", m.Rows, m.Cols, m.Rows*m.Cols, len(m.Data))
	}
	return nil
}
