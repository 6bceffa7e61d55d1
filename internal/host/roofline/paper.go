package roofline

import (
	"fmt"
	"strings"
)

// NamedFit is a training and whether it fits.
type NamedFit struct {
	Name  string `json:"name"`
	Paper bool   `json:"paper"` // it is one of the paper's
	Fit
}

// PaperFits says which of the paper's trainings, of 128 examples in half precision, fit a
// card's memory; atomic identifiers are a row for each of 109,739 documents. Behind them are
// the largest one with another optimizer and in another precision.
func PaperFits(memory int64) (all []NamedFit) {
	add := func(name string, m Model, change func(*Training)) {
		t := Training{Model: m, Precision: "fp16", Optimizer: "adafactor", Graphs: true,
			Batch: Batch{Examples: 128, InputTokens: 2500, LongestInput: 35, LabelTokens: 512, LongestLabel: 6}}
		if m.Vocabulary > 100_000 {
			name += ", atomic identifiers"
			t.Batch = Batch{Examples: 128, InputTokens: 3600, LongestInput: 67, LabelTokens: 128, LongestLabel: 1}
		}
		change(&t)
		all = append(all, NamedFit{name, t.Optimizer == "adafactor" && t.Precision == "fp16", Fits(memory, t)})
	}
	as := func(*Training) {}
	for _, rows := range []int64{0, 109_739} {
		add("T5 Efficient Tiny", Tiny().Extended(rows), as)
		add("T5-Small", Small().Extended(rows), as)
		add("T5-Base", Base().Extended(rows), as)
	}
	add("T5-Base with AdamW", Base().Extended(109_739), func(t *Training) { t.Optimizer = "adamw" })
	add("T5-Base in float32", Base().Extended(109_739), func(t *Training) { t.Precision = "fp32" })
	return all
}

// PaperFitsText is PaperFits in a sentence.
func PaperFitsText(memory int64) string {
	var not []string
	for _, f := range PaperFits(memory) {
		if f.Paper && !f.Fits {
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
	return "trainings of the paper fit, by computation, except " + strings.Join(not, "; ")
}
