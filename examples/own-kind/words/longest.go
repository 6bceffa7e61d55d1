package words

import "github.com/redsi/redsi/step"

// LongestConfig is exported for the half that computes it.
type LongestConfig struct {
	Files step.Input `hcl:"files" accepts:"files" help:"texts"`
}

// LongestReport is the JSON that tables read.
type LongestReport struct {
	Letters int64 `json:"letters"`
}

// Longest finds the longest word. It is computed by the second program, as a kind would be
// that needs a library in C: package compute has its half.
var Longest = step.Define(step.Kind[LongestConfig]{
	Name:    "longest_word",
	Version: 1,
	Needs:   "words' own library",
	Doc: `Find the longest word of texts.
Words are what is between white space. Memory does not grow.`,
	Example: `step "longest_word" "letters" {
  files = step.download.letters.files
}`,
	Outputs: []step.Output{{Name: "report", Type: "longest_word", Help: "its letters, as JSON", Fields: step.FieldsOf[LongestReport]()}},
})
