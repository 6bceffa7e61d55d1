package general

import (
	"cmp"
	"strings"

	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/step"
)

// work names the published model that files of the hub are, and how large all files will be, as
// the configuration says.
func (c downloadConfig) work() (w step.Work) {
	for _, u := range c.URLs {
		// A mirror has the hub's paths: …/OWNER/NAME/resolve/REVISION/FILE.
		if name, _, file := strings.Cut(u, "/resolve/"); file {
			words := strings.Split(name, "/")
			w.Shape = cmp.Or(w.Shape, rates.ShapeOf(strings.Join(words[max(0, len(words)-2):], "/")))
		}
	}
	if c.Bytes > 0 {
		w.Counts = map[string]step.Amount{step.BytesCount: step.Exactly(float64(c.Bytes))}
	}
	return w
}
