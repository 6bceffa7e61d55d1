package roofline

import (
	"fmt"
	"strings"
)

// NamedFit is a training of the paper and whether it fits.
type NamedFit struct {
	Name string `json:"name"`
	Fit
}

// PaperFits says which of the paper's trainings, of 128 examples in half precision, fit a
// card's memory, the smallest model first; atomic identifiers are a row for each of 109,739
// documents.
func PaperFits(memory int64) (all []NamedFit) {
	for _, x := range []struct {
		name  string
		model Model
	}{{"T5 Efficient Tiny", Tiny()}, {"T5-Small", Small()}, {"T5-Base", Base()}} {
		for _, atomic := range []bool{false, true} {
			t := Training{Model: x.model, Precision: "fp16", Optimizer: "adafactor",
				Batch: Batch{Examples: 128, InputTokens: 2500, LongestInput: 35, LabelTokens: 512, LongestLabel: 6}}
			name := x.name
			if atomic {
				name += ", atomic identifiers"
				t.Model = t.Model.Extended(109_739)
				t.Batch = Batch{Examples: 128, InputTokens: 3600, LongestInput: 67, LabelTokens: 128, LongestLabel: 1}
			}
			all = append(all, NamedFit{name, Fits(memory, t)})
		}
	}
	return all
}

// PaperFitsText is PaperFits in a sentence.
func PaperFitsText(memory int64) string {
	var not []string
	for _, f := range PaperFits(memory) {
		if !f.Fits {
			text := fmt.Sprintf("%s, which needs %.0f GB", f.Name, float64(f.Needs)/1e9)
			if len(f.Change) > 0 {
				text += " (" + f.Change[0] + " fits)"
			}
			not = append(not, text)
		}
	}
	if len(not) == 0 {
		return "every training of the paper fits, by computation"
	}
	return "trainings of the paper fit, by computation, but for " + strings.Join(not, "; ")
}
