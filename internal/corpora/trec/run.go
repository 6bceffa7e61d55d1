package trec

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

type Hypothesis struct {
	Document string  // "" if the generated text is no document's identifier
	Text     string  // the generated text, if its tokens are not an identifier's
	Score    float64 // larger is better; a beam's length-normalized log-probability
}

// Ranking is the result of a query, best first.
type Ranking struct {
	Query      string
	Hypotheses []Hypothesis
}

// Without removes a document from the ranking, and returns how often it was there.
func (r *Ranking) Without(document string) int {
	before := len(r.Hypotheses)
	r.Hypotheses = slices.DeleteFunc(r.Hypotheses, func(h Hypothesis) bool { return h.Document == document && document != "" })
	return before - len(r.Hypotheses)
}

// mark begins the name of a hypothesis without a document, or with a document named before.
const mark = "!"

// Names returns the names of a run's hypotheses, with documents spelled by name. A hypothesis without a document is
// "!POSITION:TEXT", a repeated document "!POSITION=DOCUMENT": no judgment has such names.
func (r *Ranking) Names(name func(string) string) []string {
	names := make([]string, len(r.Hypotheses))
	seen := make(map[string]struct{}, len(r.Hypotheses))
	for i, h := range r.Hypotheses {
		if h.Document == "" {
			names[i] = fmt.Sprintf("%s%d:%s", mark, i+1, EncodeName(h.Text))
			continue
		}
		names[i] = name(h.Document)
		if _, repeated := seen[h.Document]; repeated {
			names[i] = fmt.Sprintf("%s%d=%s", mark, i+1, names[i])
		}
		seen[h.Document] = struct{}{}
	}
	return names
}

// parseName reads a hypothesis from its name, and whether its document is repeated.
func parseName(name string) (h Hypothesis, repeated bool, err error) {
	marked, ok := strings.CutPrefix(name, mark)
	if !ok {
		h.Document, err = DecodeName(name)
		return h, false, err
	}
	at := strings.IndexAny(marked, ":=")
	if at < 0 || marked[at+1:] == "" && marked[at] == '=' {
		return h, false, fmt.Errorf("document %.80q begins with %q but is neither %[2]sPOSITION:TEXT nor %[2]sPOSITION=DOCUMENT", name, mark)
	}
	if marked[at] == ':' {
		h.Text, err = DecodeName(marked[at+1:])
		return h, false, err
	}
	h.Document, err = DecodeName(marked[at+1:])
	return h, true, err
}

// WriteRun writes rankings as a TREC run, "query Q0 document rank score tag" a line: trec_eval ranks it as metrics.Raw does,
// and ReadRun restores it if names are EncodeName's. Scores must not rise within a ranking; trec_eval orders equal scores by
// name, not rank (see Untie).
func WriteRun(w io.Writer, tag string, rankings []Ranking, name func(string) string) error {
	if tag == "" || EncodeName(tag) != tag {
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
		query, names, last := name(r.Query), r.Names(name), math.Inf(1)
		for i, h := range r.Hypotheses {
			if math.IsNaN(h.Score) || h.Score > last {
				return fmt.Errorf("query %q: position %d has score %v after %v; rankings go from best to worst", r.Query, i+1, h.Score, last)
			}
			last = h.Score
			fmt.Fprintf(b, "%s Q0 %s %d %s %s\n", query, names[i], i+1, strconv.FormatFloat(h.Score, 'g', -1, 64), tag)
		}
	}
	return b.Flush()
}
