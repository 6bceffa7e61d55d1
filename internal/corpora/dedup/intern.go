package dedup

import "hash/maphash"

// NameTable numbers distinct strings from zero, in order of first occurrence. It compares strings, so it never collides, and
// has no pointers for the garbage collector to follow. Ten million names of 8 bytes take about 0.3 GB.
type NameTable struct {
	arena []byte // all strings, one behind another
	ends  []int  // of each in arena
	slots []slot // a power of two; open addressing, linear probing
	seed  maphash.Seed
}

type slot struct {
	hash uint32
	id   int32 // plus one; 0: free
}

// Add returns the number of b, which it copies, and whether it is new.
func (t *NameTable) Add(b string) (id int32, isNew bool) {
	if 4*(t.Len()+1) > 3*len(t.slots) {
		t.grow()
	}
	s, hash := t.slot(b)
	if s.id != 0 {
		return s.id - 1, false
	}
	id = int32(t.Len())
	*s = slot{hash, id + 1}
	t.arena = append(t.arena, b...)
	t.ends = append(t.ends, len(t.arena))
	return id, true
}

// Find returns the number of b, if it has one.
func (t *NameTable) Find(b string) (id int32, ok bool) {
	if t.slots == nil {
		return 0, false
	}
	s, _ := t.slot(b)
	return max(s.id, 1) - 1, s.id != 0
}

// slot returns the slot of b or, if b is new, a free slot for it, and the hash of b.
func (t *NameTable) slot(b string) (s *slot, hash uint32) {
	hash = uint32(maphash.String(t.seed, b))
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s = &t.slots[i]
		if s.id == 0 || s.hash == hash && string(t.bytes(s.id-1)) == b {
			return s, hash
		}
	}
}

func (t *NameTable) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]slot, max(64, 2*len(old)))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// Len is the number of strings.
func (t *NameTable) Len() int { return len(t.ends) }

// At returns a string by its number.
func (t *NameTable) At(id int32) string { return string(t.bytes(id)) }

func (t *NameTable) bytes(id int32) []byte {
	start := 0
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.arena[start:t.ends[id]]
}
