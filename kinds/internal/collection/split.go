package collection

import (
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// taskOfEach makes a part of each file of some inputs. A file that has no name of its own
// has that of its input's number. Names must differ, and why says what for.
func taskOfEach(x *step.IO, ins step.Inputs, name func(i int) string, why string, task func(f step.Input, name string) (step.Task, error)) ([]step.Task, error) {
	names := map[string]bool{}
	var tasks []step.Task
	for i, in := range ins {
		for _, f := range x.Files(in, name(i)) {
			if names[f.Name] {
				return nil, step.Permanent(fmt.Errorf("two of the files are called %s; %s, so names must differ", f.Name, why))
			}
			names[f.Name] = true
			t, err := task(step.In(artifacts.Artifact{Type: "file", Digest: f.Digest, Size: f.Size}), f.Name)
			if err != nil {
				return nil, step.Permanent(err)
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}
