package synth

import (
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/splitmix"
)

// renderer turns records into lines, reusing its memory.
type renderer struct {
	plan       *plan
	builder    builder
	full       line
	simplified line
	tokens     int // of the last record
	opening    string
}

// annotation is one annotator's answer; candidate -1 is none.
type annotation struct {
	id        uint64
	candidate int
	short     []span
	yesNo     string
}

// render writes one record to r.full and, for train, to r.simplified.
func (r *renderer) render(rec record, dev bool, subs *substitutions) {
	pg := r.plan.page(int(rec.page))
	b := &r.builder
	b.reset(subs)
	if subs != nil {
		subs.records++
	}
	r.opening = pg.write(b, rec.look)
	r.tokens = len(b.tokens)
	topic := pg.topic(int(rec.look.revision))
	q := pg.question(topic, rec, dev)
	candidates := b.finished()
	annotations := r.annotate(rec, q, candidates, dev)
	address := "https://en.wikipedia.org//w/index.php?title=" + urlTitle(topic.title) + "&amp;oldid=" + strconv.Itoa(pg.oldID(int(rec.look.revision)))
	id := strconv.FormatInt(exampleID(r.plan.cfg, rec), 10)

	l := &r.full
	l.b = l.b[:0]
	l.raw(`{"annotations": `)
	writeAnnotations(l, b, candidates, annotations, true)
	l.raw(`, "document_html": `)
	l.string(string(b.html))
	l.raw(`, "document_title": `)
	l.string(topic.title)
	l.raw(`, "document_tokens": [`)
	for i := range b.tokens {
		t := &b.tokens[i]
		if i > 0 {
			l.raw(", ")
		}
		l.raw(`{`)
		l.field("end_byte", t.end)
		l.raw(`, "html_token": `, strconv.FormatBool(t.html))
		l.field("start_byte", t.start)
		l.raw(`, "token": `)
		l.string(t.text)
		l.raw(`}`)
	}
	l.raw(`], "document_url": `)
	l.string(address)
	l.raw(`, "example_id": `, id, `, "long_answer_candidates": `)
	writeCandidates(l, b, candidates, true)
	l.raw(`, "question_text": `)
	l.string(q.text)
	l.raw(`, "question_tokens": [`)
	for i, word := range strings.Fields(q.text) {
		if i > 0 {
			l.raw(", ")
		}
		l.string(word)
	}
	l.raw("]}\n")
	if dev {
		return
	}

	l = &r.simplified
	l.b = l.b[:0]
	l.raw(`{"question_text": `)
	l.string(q.text)
	l.raw(`, "example_id": `, id, `, "document_url": `)
	l.string(address)
	l.raw(`, "document_text": "`)
	for i := range b.tokens {
		if i > 0 {
			l.raw(" ")
		}
		l.chars(strings.ReplaceAll(b.tokens[i].text, " ", "_"))
	}
	l.raw(`", "long_answer_candidates": `)
	writeCandidates(l, b, candidates, false)
	l.raw(`, "annotations": `)
	writeAnnotations(l, b, candidates, annotations, false)
	l.raw("}\n")
}

// exampleID is different for every record, and negative for half of them.
func exampleID(cfg Config, rec record) int64 {
	return int64(splitmix.Finish(mix(uint64(cfg.Seed), forExample) + uint64(rec.index)*splitmix.Gamma))
}

// annotate makes the answers: one annotator in train, five in dev, half of them
// finding nothing.
func (r *renderer) annotate(rec record, q question, candidates []candidate, dev bool) []annotation {
	rnd := &rng{mix(uint64(r.plan.cfg.Seed), forAnnotation, uint64(rec.index))}
	n := 1
	if dev {
		n = 5
	}
	list := make([]annotation, n)
	for i := range list {
		a := annotation{id: rnd.next(), candidate: -1, yesNo: "NONE"}
		if rnd.chance(50) && len(candidates) > 0 {
			a.candidate = rnd.n(len(candidates))
			if mark, ok := r.builder.marks[q.answer]; ok {
				for c := range candidates {
					if candidates[c].start <= mark.start && mark.end <= candidates[c].end {
						a.candidate = c
						break
					}
				}
				if rnd.chance(80) {
					a.short = []span{mark}
				}
			} else if rnd.chance(10) {
				a.yesNo = pick(rnd, []string{"YES", "NO"})
			}
		}
		list[i] = a
	}
	return list
}

// writeSpan writes the positions of tokens [start, end), or of none, in the published order.
func writeSpan(l *line, b *builder, start, end int, bytes bool) {
	startByte, endByte := -1, -1
	if start >= 0 {
		startByte, endByte = b.tokens[start].start, b.tokens[end-1].end
	}
	if bytes {
		l.field("end_byte", endByte)
	}
	l.field("end_token", end)
	if bytes {
		l.field("start_byte", startByte)
	}
	l.field("start_token", start)
}

func writeCandidates(l *line, b *builder, candidates []candidate, bytes bool) {
	l.raw("[")
	for i, c := range candidates {
		if i > 0 {
			l.raw(", ")
		}
		l.raw("{")
		writeSpan(l, b, c.start, c.end, bytes)
		l.raw(`, "top_level": `, strconv.FormatBool(c.top), "}")
	}
	l.raw("]")
}

func writeAnnotations(l *line, b *builder, candidates []candidate, list []annotation, bytes bool) {
	l.raw("[")
	for i, a := range list {
		if i > 0 {
			l.raw(", ")
		}
		l.raw(`{"annotation_id": `, strconv.FormatUint(a.id, 10), `, "long_answer": {`)
		l.field("candidate_index", a.candidate)
		if a.candidate < 0 {
			writeSpan(l, b, -1, -1, bytes)
		} else {
			writeSpan(l, b, candidates[a.candidate].start, candidates[a.candidate].end, bytes)
		}
		l.raw(`}, "short_answers": [`)
		for j, s := range a.short {
			if j > 0 {
				l.raw(", ")
			}
			l.raw("{")
			writeSpan(l, b, s.start, s.end, bytes)
			l.raw("}")
		}
		l.raw(`], "yes_no_answer": "`, a.yesNo, `"}`)
	}
	l.raw("]")
}
