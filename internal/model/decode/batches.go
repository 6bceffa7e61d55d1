package decode

import "slices"

// byLength orders queries by length, so that those of a batch take about as long;
// equal ones stay in order.
func byLength(queries [][]int32) []int {
	order := make([]int, len(queries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(queries[a]) - len(queries[b]) })
	return order
}
