package alike

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// String returns the place, both values and how far they are apart, in one line.
func (d *Difference) String() string {
	place, values := d.Path, ""
	if d.File != "" {
		place = strings.TrimSuffix("file "+d.File+", "+d.Path, ", ")
	}
	if d.Stands != "" || d.Made != "" {
		values = fmt.Sprintf("%s → %s", cmp.Or(d.Stands, "nothing"), cmp.Or(d.Made, "nothing"))
	}
	if d.By != nil && d.Allowed != nil {
		values += fmt.Sprintf(", %.3g apart, %.3g allowed", *d.By, *d.Allowed)
	}
	return strings.Join(lists.Filter([]string{place, values, d.What}, func(s string) bool { return s != "" }), ": ")
}
