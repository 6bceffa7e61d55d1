package alike

import (
	"cmp"
	"fmt"
	"strings"
)

// String returns the place, both values and how far they are apart, in one line.
func (d *Difference) String() string {
	s := d.Path
	if d.File != "" {
		s = strings.TrimSuffix("file "+d.File+", "+d.Path, ", ")
	}
	if d.Stands != "" || d.Made != "" {
		s = join(s, fmt.Sprintf("%s → %s", cmp.Or(d.Stands, "nothing"), cmp.Or(d.Made, "nothing")))
	}
	if d.By != nil && d.Allowed != nil {
		s += fmt.Sprintf(", %.3g apart, %.3g allowed", *d.By, *d.Allowed)
	}
	if d.What != "" {
		s = join(s, d.What)
	}
	return s
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ": " + b
}
