package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// powercap is where Linux has the energy counters of processors. On most systems only root may read them.
const powercap = "/sys/class/powercap"

// processorEnergy finds the readable counters of processors, and of the memory beside them.
func processorEnergy(folder string) (found []Counter) {
	zones, err := filepath.Glob(filepath.Join(folder, "*-rapl:*"))
	if err != nil {
		return nil
	}
	for _, zone := range zones {
		name, err := os.ReadFile(filepath.Join(zone, "name"))
		if err != nil {
			continue
		}
		of := ""
		switch kind := strings.TrimSpace(string(name)); {
		case strings.HasPrefix(kind, "package"): // cores and graphics are within it
			of = "processors"
		case kind == "dram":
			of = "memory"
		default: // psys holds the others
			continue
		}
		path := filepath.Join(zone, "energy_uj")
		read := func() (float64, bool) { return microjoules(path) }
		if _, ok := read(); !ok {
			continue
		}
		wrap, _ := microjoules(filepath.Join(zone, "max_energy_range_uj"))
		found = append(found, Counter{Of: of, Wrap: wrap, Joule: read})
	}
	return found
}

func microjoules(path string) (float64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(b)), 10, 64)
	return float64(n) / 1e6, err == nil
}
