package alike

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// Detail is where a file differs by more than its rule allows.
type Detail struct {
	Output string           `json:"output"`
	File   string           `json:"file,omitempty"` // of a tree
	Stands artifacts.Digest `json:"stands"`
	Made   artifacts.Digest `json:"made"`
	Places []string         `json:"places"`          // the first few: fields, lines, or a byte
	More   int              `json:"more,omitempty"`  // places beyond these
	Allow  string           `json:"allow,omitempty"` // the rule of a command's compare that would allow all
}

// Bounds of the details.
const (
	mostDetails = 10       // files that are described
	mostPlaces  = 4        // of each
	mostJSON    = 16 << 20 // bytes of a file that is compared field by field: larger ones by lines
	longestLine = 64 << 10 // bytes of a line that are held
	headBytes   = 4 << 10  // that decide what a file is
	shownLine   = 80       // characters
)

// Details finds the differing files of outputs that were found to differ, and where: fields of JSON, lines of text, the
// first byte of others. Files stream; more counts further ones. Models, and outputs that follow another, have none.
func Details(ctx context.Context, blobs artifacts.BlobReader, outputs []step.Output, rules map[string]step.Alike,
	stands, rebuilt map[string]artifacts.Artifact, found []Found) (list []Detail, more int, err error) {
	c := &comparer{ctx: ctx, blobs: blobs, outputs: outputs, rules: rules, stands: stands, rebuilt: rebuilt}
	for _, f := range found {
		x, there := stands[f.Output]
		y, here := rebuilt[f.Output]
		if f.Verdict != Differs || !there || !here || (x.Files == nil) != (y.Files == nil) {
			continue
		}
		of := lists.By(y.Named(""), func(g artifacts.File) string { return g.Name })
		for _, g := range x.Named("") {
			h, ok := of[g.Name]
			if !ok || g.Digest == h.Digest {
				continue
			}
			rule := rules[f.Output]
			if each, ok := rule.(step.Files); ok {
				rule = each.Rule(g.Name)
			}
			d := &Detail{Output: f.Output, File: g.Name, Stands: g.Digest, Made: h.Digest}
			if differs, err := c.detail(d, rule, g.Size, h.Size); err != nil {
				return list, more, fmt.Errorf("compare %s: %w", strings.TrimSuffix(f.Output+", file "+g.Name, ", file "), err)
			} else if !differs {
				continue
			}
			if len(list) == mostDetails {
				more++
				continue
			}
			list = append(list, *d)
		}
	}
	return list, more, nil
}

// detail finds the places of one file; false if its rule allows the new bytes.
func (c *comparer) detail(d *Detail, rule step.Alike, size, other int64) (bool, error) {
	numeric, isNumbers := rule.(step.Numbers)
	_, isTexts := rule.(step.Texts)
	_, isBytes := rule.(step.Bytes)
	isBytes = isBytes || rule == nil
	if !isNumbers && !isTexts && !isBytes {
		return false, nil // its worst place says it
	}
	m := &meter{}
	if err := c.blob(m, d.Output, rule, d.Stands, d.Made); err != nil || m.verdict() != Differs {
		return false, err
	}
	a, as := &allowance{}, ""
	compare := func(x, y io.Reader) error {
		v, w := bufio.NewReaderSize(x, longestLine), bufio.NewReaderSize(y, longestLine)
		p, _ := v.Peek(headBytes) // an error recurs
		q, _ := w.Peek(headBytes)
		if bytes.IndexByte(p, 0) >= 0 || bytes.IndexByte(q, 0) >= 0 { // no text
			a.other = true
			return d.bytes(v, w, size, other)
		}
		if isJSON(p) && isJSON(q) && max(size, other) <= mostJSON && !isTexts {
			m := &meter{each: func(x *Difference) {
				if x.of > 1 || isBytes {
					d.add(x.shown())
					a.field(x)
				}
			}}
			return numbers{m, numeric, c.fieldsOf(d.Output)}.compare(v, w)
		}
		as = "texts"
		return d.lines(v, w, a)
	}
	unread, err := c.both(d.Stands, d.Made, compare)
	if as == "" && !a.other && (err != nil || unread != nil || len(d.Places) == 0) { // no JSON, or written otherwise
		d.Places, d.More, *a, as, isTexts = nil, 0, allowance{}, "texts", true
		unread, err = c.both(d.Stands, d.Made, compare)
	}
	d.Allow = a.rule(as, rule)
	return true, cmp.Or(err, unread)
}

func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

func (d *Detail) add(place string) {
	if len(d.Places) < mostPlaces {
		d.Places = append(d.Places, place)
		return
	}
	d.More++
}

// shown returns a difference with its field as programs write it: points[3].loss.
func (x *Difference) shown() string {
	s := cmp.Or(x.at.indexed(), x.Path)
	if x.Stands != "" || x.Made != "" {
		s += fmt.Sprintf(" %s → %s", cut(cmp.Or(x.Stands, "nothing"), 0), cut(cmp.Or(x.Made, "nothing"), 0))
	}
	if x.By != nil {
		s += fmt.Sprintf(", %.2g apart", *x.By)
	}
	if x.What != "" {
		s += ": " + x.What
	}
	return s
}

// cut returns the part of a line that is shown, from a little before a byte of it.
func cut(s string, at int) string {
	before := ""
	if from := at - shownLine/4; from > 0 {
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		before, s = "…", s[from:]
	}
	return before + words.Fit(strings.ToValidUTF8(s, "\uFFFD"), shownLine)
}

func (d *Detail) lines(v, w *bufio.Reader, a *allowance) error {
	seed := maphash.MakeSeed()
	for n := 1; ; n++ {
		p, sum, err := line(v, seed)
		if err != nil {
			return err
		}
		q, other, err := line(w, seed)
		if err != nil {
			return err
		}
		switch {
		case p == nil && q == nil:
			return nil
		case p == nil || q == nil:
			a.other = true
			d.add(fmt.Sprintf("line %d: one has more lines than the other", n))
			return nil
		case sum == other:
			continue
		}
		i := 0
		for i < min(len(p), len(q)) && p[i] == q[i] {
			i++
		}
		if i == len(p) && i == len(q) { // as far as they are held
			d.add(fmt.Sprintf("line %d: its line end differs", n))
		} else {
			d.add(fmt.Sprintf("line %d: %s → %s", n, cut(string(p[:len(p)-1]), i), cut(string(q[:len(q)-1]), i)))
		}
		a.line(p, q)
	}
}

// line reads a line with a newline, or the beginning of a very long one, and the sum of all of it; nil at the end.
func line(r *bufio.Reader, seed maphash.Seed) (text []byte, sum uint64, err error) {
	var h maphash.Hash
	h.SetSeed(seed)
	for {
		part, err := r.ReadSlice('\n')
		_, _ = h.Write(part)
		if text == nil && len(part) > 0 {
			text = bytes.Clone(part)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, 0, err
		}
		if text != nil && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		return text, h.Sum64(), nil
	}
}

func (d *Detail) bytes(v, w *bufio.Reader, size, other int64) error {
	for at := int64(0); ; at++ {
		p, err := v.ReadByte()
		q, err2 := w.ReadByte()
		if e := errors.Join(err, err2); e != nil && !errors.Is(e, io.EOF) {
			return e
		}
		if p != q || err != nil || err2 != nil {
			d.add(fmt.Sprintf("from byte %d on, of %d and %d bytes", at, size, other))
			return nil
		}
	}
}
