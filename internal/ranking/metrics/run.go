package metrics

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// WriteRun writes rankings as a TREC run, one "query Q0 document rank score tag" a
// line. A hypothesis that is no document is written as "!POSITION:TEXT", one that names
// a document again as "!POSITION=DOCUMENT", names that no judgment has, so that
// trec_eval ranks as Raw does and ReadRun loses nothing. Scores must not rise
// within a ranking. trec_eval orders equal scores by name and not by rank: Untie makes a
// run that it ranks as the rankings are.
func WriteRun(w io.Writer, tag string, rankings []Ranking) error {
	if tag == "" || encodeName(tag) != tag {
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
	query := encodeName(r.Query)
	seen := make(map[string]struct{}, len(r.Hypotheses))
	last := math.Inf(1)
	for i, h := range r.Hypotheses {
		if math.IsNaN(h.Score) || h.Score > last {
			return fmt.Errorf("position %d has score %v after %v; rankings go from best to worst", i+1, h.Score, last)
		}
		last = h.Score
		name := encodeName(h.Document)
		if h.Document == "" {
			name = fmt.Sprintf("%s%d:%s", mark, i+1, encodeName(h.Text))
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
	seen := map[string]int{} // queries, by the line where they begin
	documents := map[string]int{}
	rank := 0
	err := eachLine(r, 6, "query, Q0, document, rank, score and tag", func(n int, f []string) error {
		query, err := decodeName(f[0])
		if err != nil {
			return err
		}
		if len(out) == 0 || out[len(out)-1].Query != query {
			if at, ok := seen[query]; ok {
				return fmt.Errorf("query %q began on line %d; its lines must be together", query, at)
			}
			seen[query] = n
			out = append(out, Ranking{Query: query})
			rank = math.MinInt
			clear(documents)
		}
		last := &out[len(out)-1]
		h, again, err := parseHypothesis(f)
		if err != nil {
			return err
		}
		this, err := strconv.Atoi(f[3])
		if err != nil || this <= rank {
			return fmt.Errorf("rank %.20q; ranks of a query must rise", f[3])
		}
		rank = this
		if i := len(last.Hypotheses); i > 0 && h.Score > last.Hypotheses[i-1].Score {
			return fmt.Errorf("score %v at rank %d, above the score before it; order the lines by score", h.Score, this)
		}
		if h.Document != "" {
			at, named := documents[h.Document]
			if named && !again {
				return fmt.Errorf("document %q is on line %d already", h.Document, at)
			}
			if again && !named {
				return fmt.Errorf("document %q does not appear above, where it should be named first", h.Document)
			}
			documents[h.Document] = n
		}
		last.Hypotheses = append(last.Hypotheses, h)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	return out, nil
}

// parseHypothesis also says whether the line names a document again.
func parseHypothesis(f []string) (h Hypothesis, again bool, err error) {
	if h.Score, err = strconv.ParseFloat(f[4], 64); err != nil || math.IsNaN(h.Score) {
		return h, false, fmt.Errorf("score %.20q is not a number", f[4])
	}
	name := f[2]
	if marked, ok := strings.CutPrefix(name, mark); ok {
		at := strings.IndexAny(marked, ":=")
		if at < 0 || marked[at+1:] == "" && marked[at] == '=' {
			return h, false, fmt.Errorf("document %.80q begins with %q but is neither %[2]sPOSITION:TEXT nor %[2]sPOSITION=DOCUMENT", f[2], mark)
		}
		if name = marked[at+1:]; marked[at] == ':' {
			h.Text, err = decodeName(name)
			return h, false, err
		}
		again = true
	}
	h.Document, err = decodeName(name)
	return h, again, err
}

// eachLine splits lines at blanks and tabs into want fields; blank lines do not
// count.
func eachLine(r io.Reader, want int, layout string, do func(n int, fields []string) error) error {
	in := unpack.NewLines(r)
	for {
		line, err := in.Next()
		n := in.Number()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		if len(fields) != want {
			return fmt.Errorf("line %d: %d fields, want %d: %s", n, len(fields), want, layout)
		}
		if err := do(n, fields); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}
