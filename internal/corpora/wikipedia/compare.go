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
	restA, restB := a.entries, b.entries
	for len(restA) > 0 || len(restB) > 0 {
		switch {
		case len(restB) == 0 || len(restA) > 0 && restA[0].OldID < restB[0].OldID:
			note(&c.OnlyA, &c.OnlyAExamples, Disagreement{restA[0].OldID, restA[0].PageID, 0})
			restA = restA[1:]
			continue
		case len(restA) == 0 || restB[0].OldID < restA[0].OldID:
			note(&c.OnlyB, &c.OnlyBExamples, Disagreement{restB[0].OldID, 0, restB[0].PageID})
			restB = restB[1:]
			continue
		case restA[0].PageID == restB[0].PageID:
			c.Same++
		default:
			note(&c.Different, &c.DifferentExamples, Disagreement{restA[0].OldID, restA[0].PageID, restB[0].PageID})
		}
		restA, restB = restA[1:], restB[1:]
	}
	return c
}
