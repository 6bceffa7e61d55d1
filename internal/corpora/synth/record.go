package synth

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/redsi/redsi/internal/corpora/splitmix"
	"github.com/redsi/redsi/internal/system/lists"
)

// renderer turns records into lines, reusing its memory.
type renderer struct {
	plan *plan
	snapshot
	line []byte
}

// The members of lines stand in the order of the published files.
type (
	fullLine struct {
		Annotations []annotation `json:"annotations"`
		HTML        string       `json:"document_html"`
		Title       string       `json:"document_title"`
		Tokens      []token      `json:"document_tokens"`
		URL         string       `json:"document_url"`
		ExampleID   int64        `json:"example_id"`
		Candidates  []longAnswer `json:"long_answer_candidates"`
		Question    string       `json:"question_text"`
		Words       []string     `json:"question_tokens"`
	}
	simplifiedLine struct {
		Question    string       `json:"question_text"`
		ExampleID   int64        `json:"example_id"`
		URL         string       `json:"document_url"`
		Text        string       `json:"document_text"`
		Candidates  []longAnswer `json:"long_answer_candidates"`
		Annotations []annotation `json:"annotations"`
	}
	// span is a range of tokens; simplified records have no bytes.
	span struct {
		EndByte    *int `json:"end_byte,omitempty"`
		EndToken   int  `json:"end_token"`
		StartByte  *int `json:"start_byte,omitempty"`
		StartToken int  `json:"start_token"`
	}
	longAnswer struct {
		span
		Top bool `json:"top_level"`
	}
	// annotation is one annotator's answer.
	annotation struct {
		ID   uint64 `json:"annotation_id"`
		Long struct {
			Candidate int `json:"candidate_index"` // -1: none
			span
		} `json:"long_answer"`
		Short []span `json:"short_answers"`
		YesNo string `json:"yes_no_answer"`
	}
)

// render returns the line of a record in a file of a kind.
func (r *renderer) render(rec record, kind string) ([]byte, error) {
	dev, full := kind == KindDev, kind != KindSimplified
	pg := r.plan.page(int(rec.page))
	r.write(pg, rec.look)
	revision := int(rec.look.revision)
	title, question := pg.titleAt(revision), pg.question(rec, dev)
	candidates := make([]longAnswer, len(pg.article.Candidates))
	for i, c := range pg.article.Candidates {
		candidates[i] = longAnswer{r.span(c.Start+r.shift, c.End+r.shift, full), c.Top}
	}
	annotations := r.annotate(rec, candidates, dev, full)
	address := "https://en.wikipedia.org//w/index.php?title=" + urlTitle(title) + "&amp;oldid=" + strconv.Itoa(pg.oldID(revision))
	id := exampleID(r.plan.cfg, rec)
	var line any = fullLine{annotations, string(r.html), title, r.tokens, address, id, candidates, question, strings.Fields(question)}
	if !full {
		text := lists.Map(r.tokens, func(t token) string { return strings.ReplaceAll(t.Text, " ", "_") })
		line = simplifiedLine{question, id, address, strings.Join(text, " "), candidates, annotations}
	}
	b, err := json.Marshal(line, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	r.line = append(appendASCII(r.line[:0], b), '\n')
	return r.line, err
}

// appendASCII appends JSON with everything except printable ASCII escaped, as in the published files.
func appendASCII(line, text []byte) []byte {
	plain := 0
	for i := 0; i < len(text); {
		if c := text[i]; c <= '~' {
			i++
			continue
		}
		line = append(line, text[plain:i]...)
		r, n := utf8.DecodeRune(text[i:])
		for _, unit := range utf16.AppendRune(nil, r) {
			line = fmt.Appendf(line, `\u%04x`, unit)
		}
		i += n
		plain = i
	}
	return append(line, text[plain:]...)
}

// exampleID is different for every record, and negative for half of them.
func exampleID(cfg Config, rec record) int64 {
	return int64(splitmix.Finish(mix(uint64(cfg.Seed), forExample) + uint64(rec.index)*splitmix.Gamma))
}

// annotate draws the answers: one annotator in train, five in dev, half of whom find nothing.
func (r *renderer) annotate(rec record, candidates []longAnswer, dev, bytes bool) []annotation {
	rnd := newRNG(uint64(r.plan.cfg.Seed), forAnnotation, uint64(rec.index))
	list := make([]annotation, 1)
	if dev {
		list = make([]annotation, 5)
	}
	for i := range list {
		a := &list[i]
		a.ID, a.YesNo = rnd.Next(), "NONE"
		a.Long.Candidate, a.Long.span = -1, r.span(-1, -1, bytes)
		if !rnd.chance(50) {
			continue
		}
		a.Long.Candidate = rnd.Below(len(candidates))
		c := candidates[a.Long.Candidate]
		a.Long.span = c.span
		switch k := rnd.Below(10); {
		case k < 6:
			for start := c.StartToken + rnd.Below(c.EndToken-c.StartToken); start < c.EndToken && a.Short == nil; start++ {
				if !r.tokens[start].Tag {
					a.Short = []span{r.span(start, start+1, bytes)}
				}
			}
		case k < 7:
			a.YesNo = pick(rnd, []string{"YES", "NO"})
		}
	}
	return list
}

// span returns the range of tokens [start, end), -1 for none.
func (r *renderer) span(start, end int, bytes bool) span {
	s := span{StartToken: start, EndToken: end}
	if bytes {
		s.StartByte, s.EndByte = new(-1), new(-1)
		if start >= 0 {
			*s.StartByte, *s.EndByte = r.tokens[start].Start, r.tokens[end-1].End
		}
	}
	return s
}
