package view

import (
	"bufio"
	"io"
	"time"

	"github.com/redsi/redsi/internal/corpora/collect"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/pipeline/starter"
	"github.com/redsi/redsi/internal/ranking/search"
	"github.com/redsi/redsi/internal/session/doctor"
	"github.com/redsi/redsi/internal/session/world"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/words"
)

func Environments(w io.Writer, list []realize.Found) {
	printIf(w, len(list) == 0, "no environments on this machine\n")
	for _, f := range list {
		if !f.Complete {
			Printf(w, "%s  incomplete, or being built  %s\n", f.ID[:idShown], f.Dir)
			continue
		}
		python := ""
		if f.Python != "" {
			python = ", Python " + f.Python
		}
		Printf(w, "%s  %s  %s of %s%s  %s  used %s ago  %s\n", f.ID[:idShown], f.Name, Count(len(f.List), "package"), f.Lock, python, Size(f.Bytes), Seconds(time.Since(f.Used)), f.Dir)
	}
}

func RemovedEnvironments(w io.Writer, list []realize.Found) {
	var bytes int64
	for _, f := range list {
		bytes += f.Bytes
	}
	Printf(w, "removed %s, %s\n", Count(len(list), "environment"), Size(bytes))
}

func Findings(w io.Writer, st Style, found []doctor.Finding) {
	colours := map[string]string{doctor.OK: "hit", doctor.Warn: "maybe", doctor.Fail: "failed"} // outcomes with them
	for _, f := range found {
		word := either(f.Level == doctor.Fail, "FAIL", f.Level)
		Printf(w, "%s %-16s %s\n", st.Outcome(colours[f.Level], word), f.What, f.Note)
		printIf(w, f.Do != "", "%-5s %-16s -> %s\n", "", "", f.Do)
	}
}

func Outputs(w io.Writer, list []files.Output) {
	out := bufio.NewWriter(w)
	for _, o := range list {
		tree, accepted := "", ""
		if o.Count > 0 {
			tree = ", " + Count(o.Count, "file")
		}
		if o.Accepted != "" {
			accepted = "  " + o.Accepted
		}
		Printf(out, "%s.%s  %s  %s%s  %s%s\n", o.Address, o.Output, o.Type, Size(o.Size), tree, o.Digest, accepted)
		if o.Last && o.Rebuilt != nil {
			Rebuilt(out, "       ", o.Rebuilt)
		}
	}
	out.Flush()
}

func Used(w io.Writer, list []files.Used, sum usage.Sum) {
	out := bufio.NewWriter(w)
	for _, l := range list {
		Printf(out, "%s  took %s\n", l.Address, words.Took(l.TookS))
		rows(out, usage.Rows(l.Used), "not measured")
	}
	Printf(out, "%s with results together\n", Count(sum.Steps, "step"))
	rows(out, sum.Rows(), "")
	out.Flush()
}

// rows prints what was used, a figure per line; without figures it prints none, unless "".
func rows(w io.Writer, rows []usage.Row, none string) {
	printIf(w, len(rows) == 0 && none != "", "  %s\n", none)
	for _, r := range rows {
		Printf(w, "  %s: %s\n", r.What, r.Value)
	}
}

// Answer prints the answer to a query, of documents' words as many as fit into a width.
func Answer(w io.Writer, st Style, s search.Answered, width int) {
	const indent = "      "
	Println(w, st.Bold(s.Query))
	printIf(w, len(s.Hits) == 0, "%sthe model returned no document\n", indent)
	for _, h := range s.Hits {
		Printf(w, "%4d. %s\n", h.Rank, h.Heading())
		Printf(w, "%sscore %.3f (%s)  identifier %s  document %s\n", indent, h.Score, search.Percent(h.Probability), h.Identifier, h.Document)
		printIf(w, h.Text != "", "%s%s\n", indent, st.Dim(search.FirstWords(h.Text, width-len(indent)-2)))
	}
	Println(w)
}

func Wrote(w io.Writer, wrote []string, dir, next string) {
	if len(wrote) > wroteShown {
		Printf(w, "wrote %s into %s\n", Count(len(wrote), "file"), dir)
		wrote = nil
	}
	PrintEach(w, "wrote %s\n", wrote)
	if dir != "." {
		next = "cd " + shellwords.Quote(dir) + " && " + next
	}
	Printf(w, "next: %s\n", next)
}

func Corpus(w io.Writer, c *starter.Corpus) {
	for _, f := range c.Files {
		as := map[collect.Role]string{collect.Documents: "documents", collect.Queries: "queries", collect.Judgments: "judgments"}[f.Role]
		if f.Split != "" {
			as = string(f.Split) + " " + as
		}
		Printf(w, "found %s: %d %s (%s)\n", f.Name, f.Records, as, f.Format)
	}
	Printf(w, "%s", Count(int(c.Documents.Union), "document"))
	printIf(w, c.Documents.Untitled > 0, ", %d without a title", c.Documents.Untitled)
	printIf(w, c.Documents.Empty > 0, ", %d without words", c.Documents.Empty)
	Printf(w, "\n")
	for _, s := range collect.Splits() {
		r := c.Questions.Of(s)
		Printf(w, "%d %s %s with %s", r.Asked, s, words.Of(int(r.Asked), "query", "queries"), Count(int(r.Judgments), "judgment"))
		printIf(w, r.Several > 0, ", %d of them with several documents", r.Several)
		printIf(w, r.InTrain > 0, ", %d with the words of a train query", r.InTrain)
		Printf(w, "\n")
	}
	n := c.Questions.Unjudged
	printIf(w, n > 0, "left out, without a relevant document: %d %s\n", n, words.Of(int(n), "query", "queries"))
	Printf(w, "splits: %s\n", c.Splits)
}

func Test(w io.Writer, r world.Result) {
	word := map[string]string{world.Pass: "pass ", world.Fail: "FAIL ", world.Error: "ERROR"}[r.Outcome]
	Printf(w, "%s  %s:%d  %s  (%s, %s, %s)\n", word, r.File, r.Line, r.Name, r.Command, Count(r.Assertions, "assertion"),
		words.Took(r.TookS))
	printIf(w, r.Error != "", "       %s\n", Lines(r.Error))
	for _, f := range r.Failures {
		Printf(w, "       %s:%d: %s\n", f.File, f.Line, Lines(f.Message))
		Printf(w, "         %s\n", Lines(f.Condition))
		for _, v := range f.Values {
			if v.Value == v.Expression {
				Printf(w, "         | %s\n", Lines(v.Value))
			} else {
				Printf(w, "         | %s is %s\n", Lines(v.Expression), Lines(v.Value))
			}
		}
	}
}

func Tests(w io.Writer, count map[string]int) {
	Printf(w, "%s: %d passed, %d failed", Count(count[world.Pass]+count[world.Fail]+count[world.Error], "test"), count[world.Pass], count[world.Fail])
	printIf(w, count[world.Error] > 0, ", %d could not run", count[world.Error])
	Printf(w, ".\n")
}
