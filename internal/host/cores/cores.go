package cores

import "sync"

// Cores counts the running steps. The zero value sets nothing.
type Cores struct {
	total, fixed int
	set          func(threads int)

	mu        sync.Mutex
	computing int
	others    int
	threads   int
}

// New divides so many cores, and calls set with the threads of an operation whenever their number changes. A fixed
// number above 0 is set once, for good: for users who want it, and for processors on which results depend on it.
func New(total, fixed int, set func(threads int)) *Cores {
	c := &Cores{total: max(1, total), fixed: fixed, set: set}
	c.divide()
	return c
}

// Take says that a step begins, and whether it computes; done says that it has ended.
func (c *Cores) Take(computes bool) (done func()) {
	count := &c.others
	if computes {
		count = &c.computing
	}
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		*count += n
		c.divide()
	}
	add(1)
	return sync.OnceFunc(func() { add(-1) })
}

func (c *Cores) divide() {
	free := max((c.total+1)/2, c.total-c.others)
	n := max(1, free/max(1, c.computing))
	if c.fixed > 0 {
		n = c.fixed
	}
	if n != c.threads && c.set != nil {
		c.set(n)
	}
	c.threads = n
}
