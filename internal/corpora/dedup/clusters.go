package dedup

// Clusters numbers the records of a pass by what may not be drawn apart: the documents of all
// groupings that they share, directly or over others. Of groupings by page and by title these
// are pages, and pages with a title in common are one. It returns the number of each record's
// cluster, from zero in the order of the records, and how many there are.
func Clusters(groupings ...*Grouping) (of []int32, n int) {
	of = make([]int32, groupings[0].Records.Len())
	for i := range of {
		of[i] = int32(i)
	}
	root := func(i int32) int32 {
		for of[i] != i {
			of[i] = of[of[i]]
			i = of[i]
		}
		return i
	}
	for _, g := range groupings {
		first := make([]int32, len(g.docs)) // record of each document, plus one
		for i, doc := range g.docOf {
			if first[doc] == 0 {
				first[doc] = int32(i) + 1
				continue
			}
			a, b := root(first[doc]-1), root(int32(i))
			of[max(a, b)] = min(a, b)
		}
	}
	number := make([]int32, len(of))
	for i := range of {
		if r := root(int32(i)); r < int32(i) {
			number[i] = number[r]
		} else {
			number[i] = int32(n)
			n++
		}
	}
	return number, n
}

// Firsts says of each record whether it is the first of its document within its split: as many
// of a split as it has documents.
func (g *Grouping) Firsts() []bool {
	first := make([]bool, len(g.docOf))
	var seen [2][]bool
	for k := range seen {
		seen[k] = make([]bool, len(g.docs))
	}
	for i, doc := range g.docOf {
		k := 0
		if i >= g.Records.first {
			k = 1
		}
		first[i] = !seen[k][doc]
		seen[k][doc] = true
	}
	return first
}

// DocOf is the document of record i.
func (g *Grouping) DocOf(i int) int32 { return g.docOf[i] }

// Represents reports whether record i represents its document.
func (g *Grouping) Represents(i int) bool { return g.docs[g.docOf[i]].record == int32(i) }

// Queries are the train and dev records of a document.
func (g *Grouping) Queries(doc int32) (train, dev int) {
	m := g.docs[doc]
	return int(m.train), int(m.dev)
}
