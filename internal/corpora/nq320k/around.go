package nq320k

import (
	"unicode/utf8"

	"github.com/redsi/redsi/internal/system/words"
)

// The code points that around shows before and from a difference.
const (
	before = 40
	after  = 80
)

// around returns the first place where two texts differ, in code points, and each text around it.
func around(a, b string) (at int, ofA, ofB string) {
	equal := 0
	for equal < len(a) && equal < len(b) {
		ra, n := utf8.DecodeRuneInString(a[equal:])
		if rb, _ := utf8.DecodeRuneInString(b[equal:]); ra != rb {
			break
		}
		equal += n
		at++
	}
	from := equal
	for n := 0; n < before && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(a[:from])
		from -= size
	}
	return at, words.Clip(a[from:], before+after), words.Clip(b[from:], before+after)
}
