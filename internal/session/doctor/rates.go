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
	note := fmt.Sprintf("%s, measured %s", r.Device, r.When.Format("2006-01-02"))
	if cores := r.Load; cores >= 1 && !r.Card {
		note += fmt.Sprintf(" while other work ran (load %.1f), so it may be faster", cores)
	}
	var parts []string
	if x, ok := r.Of(step.GzipBytes, "", ""); ok {
		parts = append(parts, fmt.Sprintf("Natural Questions %s/s", words.Size(int64(x.PerSecond))))
	}
	for _, s := range rates.Shapes() {
		var of []string
		memory, note := int64(0), ""
		for _, x := range r.Rates {
			if x.Shape == s.Name {
				unit := string(x.Unit)
				if x.Identifiers != "" {
					unit = x.Identifiers + " " + unit
				}
				of = append(of, fmt.Sprintf("%.3g %s/s", x.PerSecond, unit))
				if memory = max(memory, x.Memory); x.Note != "" {
					note = " (updates " + x.Note + ")"
				}
			}
		}
		switch {
		case len(of) > 0 && memory > 0:
			parts = append(parts, fmt.Sprintf("%s %s%s, in %s of memory", s.Name, strings.Join(of, ", "), note, words.Size(memory)))
		case len(of) > 0:
			parts = append(parts, fmt.Sprintf("%s %s%s", s.Name, strings.Join(of, ", "), note))
		}
	}
	return note + ": " + strings.Join(parts, "; ")
}
