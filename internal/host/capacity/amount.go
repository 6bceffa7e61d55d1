package capacity

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/system/words"
)

// Amount is so much of a machine: what there is, or what a step asks for.
type Amount struct {
	CPUs   int
	Memory int64 // bytes
	GPUs   int
}

// list is an amount as numbers of each kind.
func (a Amount) list() [3]int64 { return [3]int64{int64(a.CPUs), a.Memory, int64(a.GPUs)} }

func (a Amount) plus(b Amount, sign int) Amount {
	return Amount{a.CPUs + sign*b.CPUs, a.Memory + int64(sign)*b.Memory, a.GPUs + sign*b.GPUs}
}

// short says of each kind whether a is less than want.
func (a Amount) short(want Amount) (short [3]bool, any bool) {
	have, need := a.list(), want.list()
	for i := range have {
		short[i] = need[i] > 0 && need[i] > have[i]
		any = any || short[i]
	}
	return short, any
}

const ofMemory = " of memory"

// says is a number of a kind with its unit.
func says(kind int, n int64) string {
	switch kind {
	case 0:
		return words.Count(int(n), "cpu")
	case 1:
		return words.Size(n) + ofMemory
	}
	return words.Count(int(n), "card")
}

// String names what there is of it: 4 cpus, 12 GB of memory.
func (a Amount) String() string {
	var parts []string
	for kind, n := range a.list() {
		if n > 0 {
			parts = append(parts, says(kind, n))
		}
	}
	return strings.Join(parts, ", ")
}

// Lacks says what of a request who has so much never has: "64 GB of memory, and this machine
// has 23 GB"; "" if it has all of it.
func (a Amount) Lacks(want Amount, who string) string {
	short, any := a.short(want)
	if !any {
		return ""
	}
	var asked, has []string
	for kind := range short {
		if short[kind] {
			asked = append(asked, says(kind, want.list()[kind]))
			has = append(has, strings.TrimSuffix(says(kind, a.list()[kind]), ofMemory))
		}
	}
	return fmt.Sprintf("%s, and %s has %s", strings.Join(asked, ", "), who, strings.Join(has, ", "))
}
