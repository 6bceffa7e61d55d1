package inout

import (
	"github.com/redsi/redsi/step"
)

// Absent stands in a report in place of an example that was asked for and is not in
// the data: the paper's examples are not in everybody's files, and what else the step
// counts does not depend on them. Cells that read it show "not in these files".
type Absent struct {
	Why string `json:"absent"`
}

// NotHere makes the absent example of err, and counts it.
func NotHere(x *step.IO, err error) Absent {
	x.Count("examples_not_in_these_files", 1)
	return Absent{err.Error()}
}

// asAbsent recognises it in JSON.
func asAbsent(at any) (Absent, bool) {
	m, _ := at.(map[string]any)
	why, ok := m["absent"].(string)
	return Absent{why}, ok && len(m) == 1
}
