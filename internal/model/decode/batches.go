package decode

import (
	"slices"
	"sync"
)

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

// parts are the queries that are left, and how many are decoded together.
type parts struct {
	mu    sync.Mutex
	order []int
	size  int
	ready int
}

// next takes the next ones; none are left where it is empty.
func (p *parts) next() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(p.size, len(p.order))
	part := p.order[:n:n]
	p.order = p.order[n:]
	return part
}

// halve puts a part back that was too large.
func (p *parts) halve(part []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order, p.size = slices.Concat(part, p.order), p.size/2
}

// stop leaves nothing for next.
func (p *parts) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = nil
}

// done tells report, which may be nil, how many queries are ready.
func (p *parts) done(part []int, report func(done int)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ready += len(part); report != nil {
		report(p.ready)
	}
}
