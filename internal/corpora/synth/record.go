package synth

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// renderer turns records into lines, reusing its memory.
type renderer struct {
	plan *plan
	snapshot
	line
}

// span is a range of tokens.
type span struct{ start, end int }

// annotation is one annotator's answer; candidate -1 is none.
type annotation struct {
	id        uint64
	candidate int
	short     []span
	yesNo     string
}

// render makes the line of a record in a file of that kind.
func (r *renderer) render(rec record, kind string) []byte {
	dev, full := kind == KindDev, kind != KindSimplified
	pg := r.plan.page(int(rec.page))
	r.write(pg, rec.look)
	revision := int(rec.look.revision)
	title, question := pg.titleAt(revision), pg.question(rec, dev)
	candidates := slices.Clone(pg.article.Candidates)
	for i := range candidates {
		candidates[i].Start += r.shift
		candidates[i].End += r.shift
	}
	annotations := r.annotate(rec, candidates, dev)
	address := "https://en.wikipedia.org//w/index.php?title=" + urlTitle(title) + "&amp;oldid=" + strconv.Itoa(pg.oldID(revision))
	id := strconv.FormatInt(exampleID(r.plan.cfg, rec), 10)
	r.b = r.b[:0]
	if full {
		r.full(title, question, address, id, candidates, annotations)
	} else {
		r.simplified(question, address, id, candidates, annotations)
	}
	return r.b
}

func (r *renderer) full(title, question, address, id string, candidates []candidate, annotations []annotation) {
	r.raw(`{"annotations": `)
	r.annotations(candidates, annotations, true)
	r.raw(`, "document_html": `)
	r.string(string(r.html))
	r.raw(`, "document_title": `)
	r.string(title)
	r.raw(`, "document_tokens": [`)
	for i := range r.tokens {
		t := &r.tokens[i]
		if i > 0 {
			r.raw(", ")
		}
		r.raw(`{`)
		r.field("end_byte", t.end)
		r.raw(`, "html_token": `, strconv.FormatBool(t.tag))
		r.field("start_byte", t.start)
		r.raw(`, "token": `)
		r.string(t.text)
		r.raw(`}`)
	}
	r.raw(`], "document_url": `)
	r.string(address)
	r.raw(`, "example_id": `, id, `, "long_answer_candidates": `)
	r.candidates(candidates, true)
	r.raw(`, "question_text": `)
	r.string(question)
	r.raw(`, "question_tokens": [`)
	for i, word := range strings.Fields(question) {
		if i > 0 {
			r.raw(", ")
		}
		r.string(word)
	}
	r.raw("]}\n")
}

func (r *renderer) simplified(question, address, id string, candidates []candidate, annotations []annotation) {
	r.raw(`{"question_text": `)
	r.string(question)
	r.raw(`, "example_id": `, id, `, "document_url": `)
	r.string(address)
	r.raw(`, "document_text": "`)
	for i := range r.tokens {
		if i > 0 {
			r.raw(" ")
		}
		r.chars(strings.ReplaceAll(r.tokens[i].text, " ", "_"))
	}
	r.raw(`", "long_answer_candidates": `)
	r.candidates(candidates, false)
	r.raw(`, "annotations": `)
	r.annotations(candidates, annotations, false)
	r.raw("}\n")
}

// exampleID is different for every record, and negative for half of them.
func exampleID(cfg Config, rec record) int64 {
	return int64(splitmix.Finish(mix(uint64(cfg.Seed), forExample) + uint64(rec.index)*splitmix.Gamma))
}

// annotate makes the answers: one annotator in train, five in dev, half of them
// finding nothing.
func (r *renderer) annotate(rec record, candidates []candidate, dev bool) []annotation {
	rnd := &rng{mix(uint64(r.plan.cfg.Seed), forAnnotation, uint64(rec.index))}
	n := 1
	if dev {
		n = 5
	}
	list := make([]annotation, n)
	for i := range list {
		a := annotation{id: rnd.next(), candidate: -1, yesNo: "NONE"}
		if rnd.chance(50) {
			a.candidate = rnd.n(len(candidates))
			switch c, k := candidates[a.candidate], rnd.n(10); {
			case k < 6:
				for start := c.Start + rnd.n(c.End-c.Start); start < c.End && a.short == nil; start++ {
					if !r.tokens[start].tag {
						a.short = []span{{start, start + 1}}
					}
				}
			case k < 7:
				a.yesNo = pick(rnd, []string{"YES", "NO"})
			}
		}
		list[i] = a
	}
	return list
}

// span writes the positions of tokens [start, end), or of none, in the published order.
func (r *renderer) span(start, end int, bytes bool) {
	startByte, endByte := -1, -1
	if start >= 0 {
		startByte, endByte = r.tokens[start].start, r.tokens[end-1].end
	}
	if bytes {
		r.field("end_byte", endByte)
	}
	r.field("end_token", end)
	if bytes {
		r.field("start_byte", startByte)
	}
	r.field("start_token", start)
}

func (r *renderer) candidates(list []candidate, bytes bool) {
	r.raw("[")
	for i, c := range list {
		if i > 0 {
			r.raw(", ")
		}
		r.raw("{")
		r.span(c.Start, c.End, bytes)
		r.raw(`, "top_level": `, strconv.FormatBool(c.Top), "}")
	}
	r.raw("]")
}

func (r *renderer) annotations(candidates []candidate, list []annotation, bytes bool) {
	r.raw("[")
	for i, a := range list {
		if i > 0 {
			r.raw(", ")
		}
		r.raw(`{"annotation_id": `, strconv.FormatUint(a.id, 10), `, "long_answer": {`)
		r.field("candidate_index", a.candidate)
		long := candidate{Start: -1, End: -1}
		if a.candidate >= 0 {
			long = candidates[a.candidate]
		}
		r.span(long.Start, long.End, bytes)
		r.raw(`}, "short_answers": [`)
		for j, s := range a.short {
			if j > 0 {
				r.raw(", ")
			}
			r.raw("{")
			r.span(s.start, s.end, bytes)
			r.raw("}")
		}
		r.raw(`], "yes_no_answer": "`, a.yesNo, `"}`)
	}
	r.raw("]")
}
