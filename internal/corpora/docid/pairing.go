package docid

import (
	"fmt"
	"slices"
	"strconv"
)

// Pairing pairs the documents of another input with their identifiers by name, which is the document's number in the
// collection, never by place in a file.
type Pairing struct {
	set   *Set
	input string
	place map[string]int
	met   []bool // by place
}

// PairWith begins to pair s with an input, which errors name, such as "corpus".
func (s *Set) PairWith(input string) *Pairing {
	p := &Pairing{set: s, input: input, place: make(map[string]int, len(s.Identifiers)), met: make([]bool, len(s.Identifiers))}
	for i, id := range s.Identifiers {
		p.place[id.Document] = i
	}
	return p
}

// Find returns the place of an input's document among s.Identifiers, or an error that names a document without one.
func (p *Pairing) Find(document int) (int, error) {
	i, ok := p.place[strconv.Itoa(document)]
	if !ok {
		return 0, fmt.Errorf("document %d of %s is not one of the %d documents of ids: take both from the same collection", document, p.input, len(p.met))
	}
	p.met[i] = true
	return i, nil
}

// Complete checks that the input had every document; the error names the first missing document.
func (p *Pairing) Complete() error {
	if i := slices.Index(p.met, false); i >= 0 {
		return fmt.Errorf("document %s of ids is not in %s: take both from the same collection", p.set.Identifiers[i].Document, p.input)
	}
	return nil
}
