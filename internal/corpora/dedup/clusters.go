package dedup

// Clusters numbers the groups of a pass's records that share a document in any grouping, directly or through other records:
// by page and title, pages joined by a common title. It returns each record's cluster, from zero in record order, and the
// number of clusters.
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
