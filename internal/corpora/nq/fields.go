package nq

import "encoding/json"

// Field is a row of the field table (paper, tab:nq-format-fields).
type Field string

// The other rows: the alignment information that the paper compares.
const (
	TokenBytes       Field = "Document-token HTML byte offsets"
	LongAnswerToken  Field = "Long-answer token offsets"
	LongAnswerBytes  Field = "Long-answer byte offsets"
	ShortAnswerToken Field = "Short-answer token offsets"
	ShortAnswerBytes Field = "Short-answer byte offsets"
)

// AllFields lists the rows in the paper's order.
var AllFields = []Field{
	nameExampleID, nameQuestion, nameQuestionTokens, nameURL, nameTitle, nameHTML, nameTokens, nameText,
	TokenBytes, LongAnswerToken, LongAnswerBytes, ShortAnswerToken, ShortAnswerBytes,
}

// FieldCounts says in how many records each field occurs.
type FieldCounts struct {
	Records int64           `json:"records"`
	With    map[Field]int64 `json:"with"`
}

// Marks returns a tick for each of AllFields that a record has and a dash for the others; nothing without records.
func (c *FieldCounts) Marks() map[Field]string {
	marks := map[Field]string{}
	for _, f := range AllFields {
		if c.With[f] > 0 {
			marks[f] = "✓"
		} else if c.Records > 0 {
			marks[f] = "–"
		}
	}
	return marks
}

// Count adds the fields of one NQ line. A nested field counts if any element has it: a record without a short answer has
// no short-answer offsets. It decodes the complete line; callers sample some hundreds.
func (c *FieldCounts) Count(line []byte) error {
	if err := checkSyntax(line); err != nil {
		return err
	}
	type span struct {
		StartToken *int64 `json:"start_token"`
		EndToken   *int64 `json:"end_token"`
		StartByte  *int64 `json:"start_byte"`
		EndByte    *int64 `json:"end_byte"`
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(line, &top); err != nil {
		return Faultf(BadJSON, "not JSON: %v", err)
	}
	var tokens []span
	var annotations []struct {
		Long  span   `json:"long_answer"`
		Short []span `json:"short_answers"`
	}
	for name, into := range map[string]any{nameTokens: &tokens, "annotations": &annotations} {
		if raw, ok := top[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return Faultf(BadType, "%s: %v", name, err)
			}
		}
	}
	has := map[Field]bool{}
	for _, f := range AllFields {
		_, has[f] = top[string(f)]
	}
	note := func(s span, tokenField, byteField Field) {
		has[tokenField] = has[tokenField] || s.StartToken != nil && s.EndToken != nil
		has[byteField] = has[byteField] || s.StartByte != nil && s.EndByte != nil
	}
	for _, t := range tokens {
		has[TokenBytes] = has[TokenBytes] || t.StartByte != nil && t.EndByte != nil
	}
	for _, a := range annotations {
		note(a.Long, LongAnswerToken, LongAnswerBytes)
		for _, s := range a.Short {
			note(s, ShortAnswerToken, ShortAnswerBytes)
		}
	}
	c.Records++
	if c.With == nil {
		c.With = map[Field]int64{}
	}
	for f, ok := range has {
		if ok {
			c.With[f]++
		}
	}
	return nil
}
