package export

import (
	"errors"
	"fmt"
	"strings"
)

// topics writes topics, as <top> elements and as TSV, and trec_eval's qrels ("query 0 document grade"). A topic is one
// line: white space is collapsed, and SGML elements write "&", "<" and ">" as entities.
type topics struct {
	tops, tsvs, qrels *bySplit
	summary           *Summary
}

func openTREC(f *files, s *Summary) (writer, error) {
	return &topics{f.bySplit("", named("trec/topics.", ".trec")), f.bySplit("", named("trec/topics.", ".tsv")),
		f.bySplit("", named("trec/qrels.", ".txt")), s}, nil
}

func (w *topics) document(*Document) error { return nil }

var sgml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func (w *topics) query(q *Query, sameQuestion bool) error {
	var qrel error
	for _, j := range q.judgments(sameQuestion) {
		qrel = errors.Join(qrel, w.qrels.line(q.Split, fmt.Sprintf("%s 0 %s %d\n", q.ID, j.DocID, j.Grade)))
	}
	if sameQuestion {
		return qrel
	}
	line := strings.Join(strings.Fields(q.Text), " ")
	if line != q.Text {
		w.summary.Respaced++
	}
	topic := sgml.Replace(line)
	if topic != line {
		w.summary.Escaped++
	}
	return errors.Join(w.tops.line(q.Split, "<top>\n<num> Number: "+q.ID+"\n<title> "+topic+"\n</top>\n\n"),
		w.tsvs.line(q.Split, q.ID+"\t"+line+"\n"), qrel)
}
