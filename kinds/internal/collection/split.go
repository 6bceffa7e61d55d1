package collection

import (
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// taskOfEach makes a part of each file of some inputs, which a part has as an input of a type. A file that has no name of
// its own has that of its input's number.
func taskOfEach(x *step.IO, ins step.Inputs, typ string, name func(i int) string, task func(f step.Input, name string) (step.Task, error)) ([]step.Task, error) {
	var tasks []step.Task
	for i, in := range ins {
		for _, f := range x.Files(in, name(i)) {
			t, err := task(step.In(artifacts.Artifact{Type: typ, Digest: f.Digest, Size: f.Size}), f.Name)
			if err != nil {
				return nil, step.Permanent(err)
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}
