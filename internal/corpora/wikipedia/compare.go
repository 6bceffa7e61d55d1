package wikipedia

// Comparison counts how far two tables agree on the pages of revisions.
type Comparison struct {
	A         int `json:"a"` // revisions
	B         int `json:"b"`
	Same      int `json:"same"`      // in both, of the same page
	Different int `json:"different"` // in both, of different pages
	OnlyA     int `json:"only_a"`
	OnlyB     int `json:"only_b"`

	// The first examples, by revision.
	DifferentExamples []Disagreement `json:"different_examples"`
	OnlyAExamples     []Disagreement `json:"only_a_examples"`
	OnlyBExamples     []Disagreement `json:"only_b_examples"`
}

// Disagreement is a revision and its page in each table, 0 where the table does not have it.
type Disagreement struct {
	OldID uint64 `json:"oldid"`
	A     uint64 `json:"page_id_a,omitempty"`
	B     uint64 `json:"page_id_b,omitempty"`
}

// Compare compares two tables, with at most limit examples of each kind.
func Compare(a, b *Table, limit int) Comparison {
	c := Comparison{A: a.Len(), B: b.Len(),
		DifferentExamples: []Disagreement{}, OnlyAExamples: []Disagreement{}, OnlyBExamples: []Disagreement{}}
	note := func(n *int, examples *[]Disagreement, d Disagreement) {
		if *n++; len(*examples) < limit {
			*examples = append(*examples, d)
		}
	}
	for _, e := range a.entries {
		switch other, ok := b.Lookup(e.OldID); {
		case !ok:
			note(&c.OnlyA, &c.OnlyAExamples, Disagreement{e.OldID, e.PageID, 0})
		case e.PageID == other.PageID:
			c.Same++
		default:
			note(&c.Different, &c.DifferentExamples, Disagreement{e.OldID, e.PageID, other.PageID})
		}
	}
	for _, e := range b.entries {
		if _, ok := a.Lookup(e.OldID); !ok {
			note(&c.OnlyB, &c.OnlyBExamples, Disagreement{e.OldID, 0, e.PageID})
		}
	}
	return c
}
