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

func (a Amount) plus(b Amount, sign int) Amount {
	return Amount{a.CPUs + sign*b.CPUs, a.Memory + int64(sign)*b.Memory, a.GPUs + sign*b.GPUs}
}

// short is a request in what a has too little of, and nothing else of it.
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

// Lacks says what of a request is more than who has so much has: "64 GB of memory, and this
// machine has 23 GB"; "" if it has all of it.
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
