package step

import "context"

// OwnFolder is where a staged folder has what a run would not find there.
const OwnFolder = ".step"

// Program is what a kind runs in a folder, for a person to run it there too.
type Program struct {
	Argv    []string          `json:"argv"`
	Env     map[string]string `json:"env"`
	Secrets []string          `json:"secrets,omitempty"` // further variables, whose values are not told
	Stdin   string            `json:"stdin,omitempty"`   // a file in the folder; "" is nothing
	Note    string            `json:"note,omitempty"`    // how a run of the step differs from running it by hand
}

// Stage fills the folder dir with what a run of the task would find there: inputs that
// are read-only, and files. For a kind that runs no program it does nothing and returns nil.
func (s *Spec) Stage(ctx context.Context, io *IO, tree map[string]any, dir string) (*Program, error) {
	if s.of.Stage == nil {
		return nil, nil
	}
	c, err := s.Decode(tree)
	if err != nil {
		return nil, Permanent(err)
	}
	p, err := s.of.Stage(ctx, io, c, dir)
	return &p, err
}
