package alike

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/step"
)

type vectors struct {
	*meter
	rule step.Vectors
}

const mostColumns = 1 << 24 // bounds a row in memory

func (v vectors) compare(a, b io.Reader) error {
	x, err := npy.Open(a)
	if err != nil {
		return fmt.Errorf("the stored result: %w", err)
	}
	y, err := npy.Open(b)
	if err != nil {
		return fmt.Errorf("the new result: %w", err)
	}
	if x.Rows != y.Rows || x.Cols != y.Cols || x.Cols > mostColumns {
		v.unlike("shape", fmt.Sprintf("%d by %d", x.Rows, x.Cols), fmt.Sprintf("%d by %d", y.Rows, y.Cols), "")
		return nil
	}
	p, q := make([]float32, x.Cols), make([]float32, x.Cols)
	for row := range x.Rows {
		if err := cmp.Or(x.Read(p), y.Read(q)); err != nil {
			return err
		}
		v.row(fmt.Sprintf("row %d", row), p, q)
	}
	return cmp.Or(x.End(), y.End())
}

func (v vectors) row(at string, p, q []float32) {
	var pp, qq, pq float64
	same := true
	for i := range p {
		a, b := float64(p[i]), float64(q[i])
		pp, qq, pq = pp+a*a, qq+b*b, pq+a*b
		same = same && p[i] == q[i]
	}
	if same {
		return
	}
	m, n := math.Sqrt(pp), math.Sqrt(qq)
	v.number(at+", length", float(m), float(n), math.Abs(m-n), v.rule.Allows(m, n))
	if m == 0 || n == 0 {
		return // the lengths tell it
	}
	cosine := min(pq/(m*n), 1)
	v.number(at+", cosine", "1", float(cosine), 1-cosine, 1-v.rule.Cosine)
}
