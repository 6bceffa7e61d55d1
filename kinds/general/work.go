package general

import (
	"strings"

	"github.com/redsi/redsi/step"
)

// work names the repository of the hub that files come from: those of a published model.
func (c downloadConfig) work() step.Work {
	for _, u := range c.URLs {
		rest, ok := strings.CutPrefix(u, "https://huggingface.co/")
		name, _, file := strings.Cut(rest, "/resolve/")
		if ok && file && !strings.HasPrefix(name, "datasets/") {
			return step.Work{Model: &step.FutureModel{Repository: name}}
		}
	}
	return step.Work{}
}
