package metrics

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/qrels"
)

// WriteRun writes rankings as a TREC run, one "query Q0 document rank score tag" a
// line. A hypothesis that is no document is written as "!POSITION:TEXT", one that names
// a document again as "!POSITION=DOCUMENT", names that no judgment has, so that
// trec_eval ranks as Raw does and ReadRun loses nothing. Scores must not rise
// within a ranking. trec_eval orders equal scores by name and not by rank: Untie makes a
// run that it ranks as the rankings are.
func WriteRun(w io.Writer, tag string, rankings []Ranking) error {
	if tag == "" || qrels.EncodeName(tag) != tag {
		return fmt.Errorf("run tag %q: want one word", tag)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	written := make(map[string]struct{}, len(rankings))
	for _, r := range rankings {
		if r.Query == "" {
			return fmt.Errorf("a ranking has no query")
		}
		if _, ok := written[r.Query]; ok {
			return fmt.Errorf("query %q has two rankings", r.Query)
		}
		written[r.Query] = struct{}{}
		if err := writeRanking(b, tag, r); err != nil {
			return fmt.Errorf("query %q: %w", r.Query, err)
		}
	}
	return b.Flush()
}

func writeRanking(b *bufio.Writer, tag string, r Ranking) error {
	query := qrels.EncodeName(r.Query)
	seen := make(map[string]struct{}, len(r.Hypotheses))
	last := math.Inf(1)
	for i, h := range r.Hypotheses {
		if math.IsNaN(h.Score) || h.Score > last {
			return fmt.Errorf("position %d has score %v after %v; rankings go from best to worst", i+1, h.Score, last)
		}
		last = h.Score
		name := qrels.EncodeName(h.Document)
		if h.Document == "" {
			name = fmt.Sprintf("%s%d:%s", mark, i+1, qrels.EncodeName(h.Text))
		} else if _, again := seen[h.Document]; again {
			name = fmt.Sprintf("%s%d=%s", mark, i+1, name)
		}
		seen[h.Document] = struct{}{}
		fmt.Fprintf(b, "%s Q0 %s %d %s %s\n", query, name, i+1, strconv.FormatFloat(h.Score, 'g', -1, 64), tag)
	}
	return nil
}

// ReadRun reads a TREC run, of redsi or another program, whose lines are grouped by
// query and ordered by rank. Errors name the line.
func ReadRun(r io.Reader) ([]Ranking, error) {
	var out []Ranking
	in := newRunReader(r)
	var raw rawRanking
	for {
		err := in.next(&raw)
		if err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("run: %w", err)
		}
		ranking := Ranking{Query: raw.query, Hypotheses: make([]Hypothesis, len(raw.rows))}
		for i, row := range raw.rows {
			h := &ranking.Hypotheses[i]
			if row.document != "" {
				h.Document = row.document
			} else if *h, _, err = parseMarked(row.name); err != nil {
				return nil, fmt.Errorf("run: %w", err)
			}
			h.Score = row.score
		}
		out = append(out, ranking)
	}
}

// mark begins the name of a hypothesis that is no document, or that names one again.
const mark = "!"

// parseMarked reads such a name, and says which of the two it is.
func parseMarked(name string) (h Hypothesis, again bool, err error) {
	marked := name[len(mark):]
	at := strings.IndexAny(marked, ":=")
	if at < 0 || marked[at+1:] == "" && marked[at] == '=' {
		return h, false, fmt.Errorf("document %.80q begins with %q but is neither %[2]sPOSITION:TEXT nor %[2]sPOSITION=DOCUMENT", name, mark)
	}
	if marked[at] == ':' {
		h.Text, err = qrels.DecodeName(marked[at+1:])
		return h, false, err
	}
	h.Document, err = qrels.DecodeName(marked[at+1:])
	return h, true, err
}
