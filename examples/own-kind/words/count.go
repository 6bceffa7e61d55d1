package words

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/step"
)

// countConfig is what a pipeline writes: its tags are the schema, the help and the key.
type countConfig struct {
	Files   step.Input `hcl:"files" accepts:"files" help:"texts"`
	Letters int        `hcl:"letters,optional" help:"shorter words are not counted"`
}

// report is the JSON that tables read.
type report struct {
	Words int64 `json:"words"`
	Lines int64 `json:"lines"`
}

// Count counts words. Each file is a part: cached by its own key, counted on any worker.
var Count = step.Define(step.Kind[countConfig]{
	Name:    "word_count",
	Version: 1,
	Doc: `Count the words of texts.
Words are what is between white space. Each file is counted by itself, so a change of
one counts only that one again; memory does not grow.`,
	Example: `step "word_count" "letters" {
  files = step.download.letters.files
}`,
	Outputs:  []step.Output{{Name: "report", Type: "word_count", Help: "words and lines, as JSON"}},
	Defaults: countConfig{Letters: 1},
	Check: func(c countConfig) error {
		if c.Letters < 1 {
			return step.Problems{{Path: "letters", Detail: "must be at least 1"}}
		}
		return nil
	},
	Parts: []step.Spec{countFile.Spec},
	Split: func(_ context.Context, x *step.IO, c countConfig) ([]step.Task, error) {
		var tasks []step.Task
		for _, f := range x.Files(c.Files, "text") {
			t, err := countFile.Task(countFileConfig{Name: f.Name, Letters: c.Letters,
				File: step.In(artifacts.Artifact{Type: "file", Digest: f.Digest, Size: f.Size})})
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, t)
		}
		return tasks, nil
	},
	Run: func(_ context.Context, x *step.IO, _ countConfig) error {
		var sum report
		for _, p := range x.Parts() {
			r, err := x.Open(step.In(p.Outputs["report"]))
			if err != nil {
				return err
			}
			var one report
			err = json.NewDecoder(r).Decode(&one)
			r.Close()
			if err != nil {
				return step.Permanent(err)
			}
			sum.Words, sum.Lines = sum.Words+one.Words, sum.Lines+one.Lines
		}
		return write(x, sum)
	},
})

type countFileConfig struct {
	File    step.Input `hcl:"file" help:"a text"`
	Name    string     `hcl:"name,nokey" help:"its name, for people"`
	Letters int        `hcl:"letters" help:"shorter words are not counted"`
}

var countFile = step.DefinePart(step.Kind[countFileConfig]{
	Name:    "word_count_file",
	Version: 1,
	Doc:     "One file of a word_count.",
	Outputs: []step.Output{{Name: "report", Type: "word_count", Help: "words and lines, as JSON"}},
	Run: func(_ context.Context, x *step.IO, c countFileConfig) error {
		in, err := x.Open(c.File)
		if err != nil {
			return err
		}
		defer in.Close()
		var sum report
		var done int64
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			sum.Lines++
			done += int64(len(lines.Bytes())) + 1
			for _, w := range strings.Fields(lines.Text()) {
				if len([]rune(w)) >= c.Letters {
					sum.Words++
				}
			}
			x.Report(step.Progress{Done: done, Total: c.File.Artifact.Size, Unit: "bytes", Note: c.Name})
		}
		if err := lines.Err(); err != nil {
			return step.Permanent(fmt.Errorf("%s, line %d: %w", c.Name, sum.Lines+1, err))
		}
		x.Count("lines", sum.Lines)
		return write(x, sum)
	},
})

func write(x *step.IO, r report) error {
	w, err := x.Create("report")
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(r); err != nil {
		return err
	}
	return w.Close()
}
