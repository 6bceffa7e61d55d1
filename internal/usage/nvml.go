package usage

import (
	"fmt"
	"slices"
	"strings"
)

// nvml is what NVIDIA's management library says of this machine's cards.
type nvml struct{ cards []nvmlCard }

type nvmlCard struct {
	name   string
	joules func() (float64, bool)
}

// joules is what all cards have taken; not known unless each tells.
func (n nvml) joules() (sum float64, ok bool) {
	for _, c := range n.cards {
		j, ok := c.joules()
		if !ok {
			return 0, false
		}
		sum += j
	}
	return sum, len(n.cards) > 0
}

// names are those of the cards, such as "NVIDIA H200 × 8".
func (n nvml) names() string {
	var order, list []string
	count := map[string]int{}
	for _, c := range n.cards {
		if count[c.name]++; count[c.name] == 1 {
			order = append(order, c.name)
		}
	}
	slices.Sort(order)
	for _, name := range order {
		if count[name] > 1 {
			name = fmt.Sprintf("%s × %d", name, count[name])
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
