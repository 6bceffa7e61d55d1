package capacity

import (
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/system/words"
)

// Amount is an amount of a machine: what it has, or what a step asks for.
type Amount struct {
	CPUs   int
	Memory int64 // bytes
	GPUs   int
}

func (a Amount) plus(b Amount, sign int) Amount {
	return Amount{a.CPUs + sign*b.CPUs, a.Memory + int64(sign)*b.Memory, a.GPUs + sign*b.GPUs}
}

// short returns the parts of a request of which a has too little; the others are 0.
func (a Amount) short(want Amount) (of Amount) {
	if want.CPUs > max(a.CPUs, 0) {
		of.CPUs = want.CPUs
	}
	if want.Memory > max(a.Memory, 0) {
		of.Memory = want.Memory
	}
	if want.GPUs > max(a.GPUs, 0) {
		of.GPUs = want.GPUs
	}
	return of
}

// Lacks says which parts of a request are more than a, which who has: "64 GB of memory, and this machine has 23 GB"; ""
// if none is.
func (a Amount) Lacks(want Amount, who string) string {
	var asked, has []string
	lack := func(lacks bool, want, have string) {
		if lacks {
			asked, has = append(asked, want), append(has, have)
		}
	}
	of := a.short(want)
	lack(of.CPUs > 0, words.Count(of.CPUs, "cpu"), words.Count(a.CPUs, "cpu"))
	lack(of.Memory > 0, words.Size(of.Memory)+" of memory", words.Size(a.Memory))
	lack(of.GPUs > 0, words.Count(of.GPUs, "card"), words.Count(a.GPUs, "card"))
	if asked == nil {
		return ""
	}
	return fmt.Sprintf("%s, and %s has %s", strings.Join(asked, ", "), who, strings.Join(has, ", "))
}
