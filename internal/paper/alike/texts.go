package alike

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/redsi/redsi/step"
)

type texts struct {
	*meter
	rule step.Texts
}

const longestWord = 1 << 20

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)

func (t texts) compare(a, b io.Reader) error { return unpacked(a, b, t.words) }

func (t texts) words(a, b io.Reader) error {
	v, w := newWordReader(a), newWordReader(b)
	for {
		more, too := v.Scan(), w.Scan()
		if err := cmp.Or(v.Err(), w.Err()); err != nil {
			return err
		}
		at := fmt.Sprintf("line %d", v.line)
		switch {
		case !more && !too:
			return nil
		case more != too:
			t.unlike(at, v.Text(), w.Text(), "one has more words than the other")
			return nil
		}
		p, q := v.Text(), w.Text()
		if p == q {
			continue
		}
		if !decimal.MatchString(p) || !decimal.MatchString(q) {
			t.unlike(at, p, q, "")
			return nil
		}
		by := t.rule.Margin
		if !strings.ContainsAny(p+q, ".eE") {
			by = step.Margin{}
		}
		t.numbers(at, json.Number(p), json.Number(q), by)
	}
}

// wordReader scans the words of a text; each mark between them, such as a comma, is a word.
type wordReader struct {
	*bufio.Scanner
	line int // of the current word, from 1
}

func newWordReader(r io.Reader) *wordReader {
	w := &wordReader{Scanner: bufio.NewScanner(r), line: 1}
	w.Buffer(nil, longestWord)
	w.Split(func(data []byte, end bool) (int, []byte, error) {
		from := 0
		for from < len(data) && isSpace(data[from]) {
			from++
		}
		to := from
		for to < len(data) && !isSpace(data[to]) && !isMark(data[to]) {
			to++
		}
		switch {
		case to == from && from < len(data): // a mark
			to++
		case to == len(data) && !end:
			w.line += bytes.Count(data[:from], []byte{'\n'})
			return from, nil, nil // the word may go on
		case to == from: // white space at the end
			return len(data), nil, nil
		}
		w.line += bytes.Count(data[:from], []byte{'\n'})
		return to, data[from:to], nil
	})
	return w
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isMark(c byte) bool { return strings.IndexByte(",;:=|()[]{}<>\"'&%", c) >= 0 }
