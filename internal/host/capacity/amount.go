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
	of := a.short(want)
	if of.CPUs > 0 {
		asked, has = append(asked, words.Count(of.CPUs, "cpu")), append(has, words.Count(a.CPUs, "cpu"))
	}
	if of.Memory > 0 {
		asked, has = append(asked, words.Size(of.Memory)+" of memory"), append(has, words.Size(a.Memory))
	}
	if of.GPUs > 0 {
		asked, has = append(asked, words.Count(of.GPUs, "card")), append(has, words.Count(a.GPUs, "card"))
	}
	if asked == nil {
		return ""
	}
	return fmt.Sprintf("%s, and %s has %s", strings.Join(asked, ", "), who, strings.Join(has, ", "))
}
