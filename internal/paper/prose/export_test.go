package prose

import "strings"

// Typed is a number typed in a paper.
type Typed struct {
	Place Place
	Text  string
}

// Numbers lists the numbers in a paper, except years, labels and the like.
func (p *Paper) Numbers() (out []Typed) {
	for _, t := range p.numbers() {
		out = append(out, Typed{p.place(p.spots[t.at]), strings.ReplaceAll(t.Text, string(thin), " ")})
	}
	return out
}
