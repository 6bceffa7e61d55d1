package step

// CellName is a cell that a configuration names, and the attribute that does.
type CellName struct {
	Attr string // as in Problem
	Cell string // ADDRESS:CELL, such as table.dedup_counts:url.train
}

// Cells names the numbers and texts that a completed tree's task leaves; nil for kinds
// that say nothing of them.
func (s *Spec) Cells(tree map[string]any) ([]string, error) {
	return ofTree(s, s.Kind.Cells, tree)
}

// CellNames lists the cells of others that a completed tree names.
func (s *Spec) CellNames(tree map[string]any) ([]CellName, error) {
	return ofTree(s, s.Kind.Names, tree)
}

// ofTree is what a function of a kind says of a completed tree, nothing where the kind has none.
func ofTree[T any](s *Spec, ask func(config any) T, tree map[string]any) (said T, err error) {
	if ask == nil {
		return said, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return said, err
	}
	return ask(c), nil
}

// ofTask is ofTree of a task's.
func ofTask[T any](s *Spec, ask func(config any) T, t Task) (said T, err error) {
	if ask == nil {
		return said, nil
	}
	tree, err := t.Tree()
	if err != nil {
		return said, err
	}
	return ofTree(s, ask, tree)
}
