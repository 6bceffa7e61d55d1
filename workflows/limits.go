package workflows

// A limit bounds how many steps of a run have its name at a time, on any number of workers. A step without room waits
// in the run.

// limitsOf returns the names that a step has while it runs.
func (r *run) limitsOf(i int) []string {
	if a := r.heads[i].Resources; a != nil {
		return a.Limits
	}
	return nil
}

func (r *run) use(names []string, n int) {
	for _, name := range names {
		r.used[name] += n
	}
}

// room reports whether one more step may have these names.
func (r *run) room(names []string) bool {
	for _, name := range names {
		if most, bounded := r.loaded.Limits[name]; bounded && r.used[name] >= most {
			return false
		}
	}
	return true
}

// bar holds a step until there is room for it.
func (r *run) bar(i int) {
	r.hold(i)
	r.barred = append(r.barred, i)
}

// unbar releases as many steps as there is room for, in their order. They are looked up again. A step that cannot start,
// since an input was lost meanwhile, takes no room from the steps behind it, among which that input may be.
func (r *run) unbar() {
	waiting := r.barred
	r.barred = nil
	var released []int
	for _, i := range waiting {
		if !r.room(r.limitsOf(i)) {
			r.barred = append(r.barred, i)
			continue
		}
		if r.release(i); r.startable(i) {
			r.use(r.limitsOf(i), 1) // for those behind it
			released = append(released, i)
		}
	}
	for _, i := range released {
		r.use(r.limitsOf(i), -1)
	}
}
