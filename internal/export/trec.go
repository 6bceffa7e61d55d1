package export

import (
	"errors"
	"strings"
)

// trec writes topics, as <top> elements and as TSV, and qrels of trec_eval
// ("query 0 document 1"). A topic is one line, so white space in it is reduced.
type trec struct {
	tops, tsvs, qrels []*text // each by split
	summary           *Summary
}

func openTREC(f *files, s *Summary) (writer, error) {
	all, err := f.texts("trec/topics.train.trec", "trec/topics.dev.trec",
		"trec/topics.train.tsv", "trec/topics.dev.tsv", "trec/qrels.train.txt", "trec/qrels.dev.txt")
	if err != nil {
		return nil, err
	}
	return &trec{all[:2], all[2:4], all[4:], s}, nil
}

func (w *trec) document(*Document) error { return nil }

func (w *trec) query(q *Query) error {
	line := strings.Join(strings.Fields(q.Text), " ")
	if line != q.Text {
		w.summary.Respaced++
	}
	_, err1 := bySplit(w.tops, q.Split).WriteString("<top>\n<num> Number: " + q.ID + "\n<title> " + line + "\n</top>\n\n")
	_, err2 := bySplit(w.tsvs, q.Split).WriteString(q.ID + "\t" + line + "\n")
	_, err3 := bySplit(w.qrels, q.Split).WriteString(q.ID + " 0 " + q.DocID + " 1\n")
	return errors.Join(err1, err2, err3)
}

func (w *trec) close() error {
	return errors.Join(closeAll(w.tops), closeAll(w.tsvs), closeAll(w.qrels))
}
