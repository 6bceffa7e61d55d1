package nq

import "fmt"

// Comparison says how the two formats of one example relate. The full record is
// what counts; the simplified one is recomputed from it as a check.
type Comparison struct {
	SameQuestion bool
	SameURL      bool
	SameText     bool // document_text equals SimplifiedText(document_tokens)
	FirstDiff    int  // byte offset of the first difference of the texts, -1 if SameText
}

// Merge adds the document_text of the simplified record to full and compares what
// both have. Records of different examples give a RecordError with WrongPair and
// leave full unchanged.
func Merge(full, simplified *Record) (Comparison, error) {
	if full.ExampleID != simplified.ExampleID {
		return Comparison{}, &RecordError{
			ExampleID: full.ExampleID, HasID: true, Reason: WrongPair,
			Detail: fmt.Sprintf("the simplified record has example_id %d", simplified.ExampleID),
		}
	}
	if !full.Full() || simplified.Text == "" {
		return Comparison{}, &RecordError{
			ExampleID: full.ExampleID, HasID: true, Reason: WrongPair,
			Detail: "Merge takes a full and a simplified record",
		}
	}
	text := SimplifiedText(full.Tokens)
	c := Comparison{
		SameQuestion: full.Question == simplified.Question,
		SameURL:      full.URL == simplified.URL,
		SameText:     text == simplified.Text,
		FirstDiff:    -1,
	}
	if !c.SameText {
		for c.FirstDiff = 0; c.FirstDiff < min(len(text), len(simplified.Text)); c.FirstDiff++ {
			if text[c.FirstDiff] != simplified.Text[c.FirstDiff] {
				break
			}
		}
	}
	full.Text = simplified.Text
	return c, nil
}
