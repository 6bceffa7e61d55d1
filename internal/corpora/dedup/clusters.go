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
