package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Rates are those that are kept in a folder, here of this machine's devices, by their names.
func Rates(folder string, here []string) (found []Finding) {
	all, bad := rates.Read(folder)
	missing := slices.Clone(here)
	for i, r := range all {
		f := Finding{What: "rates", OK: true, Soft: true, Note: rated(r), Rates: &all[i]}
		if n := slices.Index(missing, r.Device); n >= 0 {
			missing = slices.Delete(missing, n, n+1)
		} else if !slices.Contains(here, r.Device) {
			f.Note = "of another machine, for plan --on " + r.Name() + ": " + f.Note
		}
		found = append(found, f)
	}
	for _, err := range bad {
		found = append(found, Finding{What: "rates", Soft: true, Note: err.Error(), Do: "remove the file, or measure again: doctor --rates"})
	}
	for _, device := range missing {
		found = append(found, Finding{What: "rates", OK: true, Soft: true, Note: device + " was not measured, so plans know only what earlier runs took; doctor --rates measures it in a minute or two"})
	}
	return found
}

// rated says how fast a device is, in a line.
func rated(r rates.Rates) string {
	var parts []string
	if x, ok := r.Of(step.GzipBytes, "", "", 0); ok {
		parts = append(parts, fmt.Sprintf("Natural Questions %s/s", words.Size(int64(x.PerSecond))))
	}
	for _, s := range rates.Shapes() {
		var of []string
		memory := int64(0)
		for _, x := range r.Rates {
			if x.Shape != s.Name {
				continue
			}
			text := strings.TrimSpace(fmt.Sprintf("%.3g %s", x.PerSecond, x.Identifiers)) + " " + string(x.Unit) + "/s"
			if x.Documents > 0 {
				text += " of " + words.Count(x.Documents, "document")
			}
			if x.Note != "" {
				text += " (" + x.Note + ")"
			}
			of, memory = append(of, text), max(memory, x.Memory)
		}
		if memory > 0 {
			of = append(of, "in "+words.Size(memory)+" of memory")
		}
		if len(of) > 0 {
			parts = append(parts, s.Name+" "+strings.Join(of, ", "))
		}
	}
	return r.String() + ": " + strings.Join(parts, "; ")
}
