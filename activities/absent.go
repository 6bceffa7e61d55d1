package activities

import (
	"github.com/redsi/redsi/internal/step"
)

// absent stands in a report in place of an example that was asked for and is not in
// the data: the paper's examples are not in everybody's files, and what else the step
// counts does not depend on them. Cells that read it show "not in these files".
type absent struct {
	Why string `json:"absent"`
}

// notHere makes the absent example of err, and counts it.
func notHere(x *step.IO, err error) absent {
	x.Count("examples_not_in_these_files", 1)
	return absent{err.Error()}
}

// asAbsent recognises it in JSON.
func asAbsent(at any) (absent, bool) {
	m, _ := at.(map[string]any)
	why, ok := m["absent"].(string)
	return absent{why}, ok && len(m) == 1
}
