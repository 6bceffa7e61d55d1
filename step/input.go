package step

import (
	"encoding/json"
	"fmt"

	"github.com/redsi/redsi/artifacts"
)

// Ref names an output of another step: the only edge between steps.
type Ref struct {
	Step   string `json:"step"`   // full address, such as step.train.dsi["tiny/42"]
	Output string `json:"output"` // an output that the step's kind declares
}

func (r Ref) String() string { return r.Step + "." + r.Output }

// Input is an artifact that a kind's configuration takes. Exactly one side is
// set: Ref in a plan, Artifact in a task that can run.
type Input struct {
	Ref      *Ref
	Artifact *artifacts.Artifact
}

// Inputs takes one artifact or a list of them, in the order given.
type Inputs []Input

// In makes an input of a known artifact.
func In(a artifacts.Artifact) Input { return Input{Artifact: &a} }

// Set reports whether the input was given at all (optional inputs may not be).
func (in Input) Set() bool { return in.Ref != nil || in.Artifact != nil }

// The two wire forms of an input inside a configuration tree. No attribute of a
// kind may start with "$", so they cannot be mistaken for configuration.
const (
	refField      = "$ref"
	artifactField = "$artifact"
	digestField   = "$input"
)

// MarshalJSON writes {"$ref": …} or {"$artifact": …}; an unset input is null.
func (in Input) MarshalJSON() ([]byte, error) {
	switch {
	case in.Artifact != nil:
		return json.Marshal(map[string]any{artifactField: in.Artifact})
	case in.Ref != nil:
		return json.Marshal(map[string]any{refField: in.Ref})
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. An artifact that no step could have
// left, such as a tree with names that lead out of a folder, is an error: those who
// can put a task into a queue do not choose what a worker opens or writes.
func (in *Input) UnmarshalJSON(b []byte) error {
	var w struct {
		Ref      *Ref                `json:"$ref"`
		Artifact *artifacts.Artifact `json:"$artifact"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	if w.Ref != nil && w.Artifact != nil {
		return fmt.Errorf("an input is a reference or an artifact, not both")
	}
	if w.Artifact != nil {
		if err := w.Artifact.Validate(); err != nil {
			return fmt.Errorf("an input of a task: %w", err)
		}
	}
	in.Ref, in.Artifact = w.Ref, w.Artifact
	return nil
}
