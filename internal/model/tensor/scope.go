package tensor

import lib "github.com/sugarme/gotch/libtch"

// Scope owns tensors. It belongs to one goroutine at a time; a scope that holds a model's parameters may be read by
// several, each with a scope of its own for what it computes.
type Scope struct {
	tensors []*Tensor
	closed  bool
}

// NewScope is an empty scope that the caller closes, for tensors that outlive a
// call: parameters, optimizer state, caches.
func NewScope() *Scope { return &Scope{} }

// Run calls f with a new scope on a locked OS thread, frees the scope, and returns the *Error of a failed operation.
func Run(f func(*Scope)) error {
	return Try(func() { Within(f) })
}

// Do is Run of an f that may fail for reasons of its own.
func Do(f func(*Scope) error) (err error) {
	if failed := Run(func(s *Scope) { err = f(s) }); failed != nil {
		return failed
	}
	return err
}

// Within calls f with a new scope and frees it, inside a Run; for one step of a
// loop. Results that must survive are moved out by f.
func Within(f func(*Scope)) {
	s := NewScope()
	defer s.Close()
	f(s)
}

// Reading is Within without recording operations for gradients.
func Reading(f func(*Scope)) { NoGrad(func() { Within(f) }) }

// Close frees every tensor of the scope, which must not be used afterwards.
func (s *Scope) Close() {
	for _, t := range s.tensors {
		t.release()
	}
	s.tensors, s.closed = nil, true
}

// Free frees tensors before their scope closes. nil and freed tensors are skipped.
func Free(tensors ...*Tensor) {
	for _, t := range tensors {
		if t == nil || t.c == nil {
			continue
		}
		t.scope.drop(t)
		t.release()
	}
}

// Move hands t to scope s, and returns it. Its former scope will not free it.
func (s *Scope) Move(t *Tensor) *Tensor {
	t.use("Move")
	t.scope.drop(t)
	s.add(t)
	return t
}

// Alias is a second handle, owned by s, to the same tensor: memory lives as long as either handle.
func (s *Scope) Alias(t *Tensor) *Tensor {
	c := lib.AtShallowClone(t.use("Alias"))
	return s.own("Alias", c, t)
}

// own checks the last call and takes its result.
func (s *Scope) own(op string, c lib.Ctensor, operands ...*Tensor) *Tensor {
	check(op, operands...)
	if c == nil {
		Failf(op, "libtorch returned nothing")
	}
	live.Add(1)
	t := &Tensor{c: c}
	s.add(t)
	return t
}

// inPlace checks the last call and drops the handle that libtorch returns beside the changed operand.
func (s *Scope) inPlace(op string, c lib.Ctensor, operands ...*Tensor) {
	check(op, operands...)
	lib.AtFree(c)
}

func (s *Scope) add(t *Tensor) {
	if s.closed {
		t.release()
		Failf("Scope", "the scope is closed")
	}
	t.scope, t.slot = s, len(s.tensors)
	s.tensors = append(s.tensors, t)
}

// drop takes t off the list; the last one fills its place.
func (s *Scope) drop(t *Tensor) {
	last := len(s.tensors) - 1
	s.tensors[t.slot] = s.tensors[last]
	s.tensors[t.slot].slot = t.slot
	s.tensors[last] = nil
	s.tensors = s.tensors[:last]
	t.scope = nil
}

func (t *Tensor) release() {
	if t.c != nil {
		lib.AtFree(t.c)
		t.c = nil
		live.Add(-1)
	}
}
