package train

import (
	"fmt"
	"strconv"
	"strings"
)

// Ratio is how many indexing examples come with how many retrieval examples
// (paper, "Indexing-to-retrieval ratio"). The zero value is the natural ratio.
type Ratio struct {
	Indexing, Retrieval int
}

// Natural takes every document and every query once per pass.
var Natural = Ratio{}

// ParseRatio reads "natural" or "a:b", such as "32:1" or "0:1".
func ParseRatio(s string) (Ratio, error) {
	if s == "natural" {
		return Natural, nil
	}
	a, b, ok := strings.Cut(s, ":")
	i, err := strconv.Atoi(a)
	r, err2 := strconv.Atoi(b)
	if !ok || err != nil || err2 != nil || i < 0 || r < 1 || i > 1_000_000 || r > 1_000_000 {
		return Ratio{}, fmt.Errorf(`indexing-to-retrieval ratio %q: it is "natural" or a:b with a ≥ 0 and b ≥ 1, such as "1:1", "32:1" or "0:1"`, s)
	}
	return Ratio{i, r}, nil
}

// String is what ParseRatio reads.
func (r Ratio) String() string {
	if r == Natural {
		return "natural"
	}
	return fmt.Sprintf("%d:%d", r.Indexing, r.Retrieval)
}
