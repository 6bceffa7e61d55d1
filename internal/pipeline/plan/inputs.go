package plan

import "github.com/redsi/redsi/step"

// InputsOf calls each for every input in a task, with the path of the attribute that reads it.
func InputsOf(t step.Task, each func(path string, in step.Input)) error {
	tree, err := t.Tree()
	if err != nil {
		return err
	}
	_, err = step.MapInputs(tree, func(path string, in step.Input) (step.Input, error) {
		each(path, in)
		return in, nil
	})
	return err
}
