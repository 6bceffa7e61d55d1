package export

// jsonl writes one Document or Query a line.
type jsonl struct {
	documents *text
	queries   []*text // by split
}

func openJSONL(f *files) (writer, error) {
	all, err := f.texts("jsonl/documents.jsonl.gz", "jsonl/queries.train.jsonl.gz", "jsonl/queries.dev.jsonl.gz")
	if err != nil {
		return nil, err
	}
	return &jsonl{all[0], all[1:]}, nil
}

func (w *jsonl) document(d *Document) error { return w.documents.json.Encode(d) }
func (w *jsonl) query(q *Query) error       { return bySplit(w.queries, q.Split).json.Encode(q) }
func (w *jsonl) close() error               { return closeAll(append([]*text{w.documents}, w.queries...)) }

// beir writes the layout that the BEIR loader reads.
type beir struct {
	corpus, queries *text
	qrels           []*text // by split
}

type beirDocument struct {
	ID       string       `json:"_id"`
	Title    string       `json:"title"`
	Text     string       `json:"text"`
	Metadata beirMetadata `json:"metadata"`
}

type beirMetadata struct {
	URL    string `json:"url,omitempty"`
	OldID  uint64 `json:"oldid,omitempty"`
	PageID uint64 `json:"page_id,omitempty"`
}

type beirQuery struct {
	ID       string   `json:"_id"`
	Text     string   `json:"text"`
	Metadata struct{} `json:"metadata"`
}

func openBEIR(f *files) (writer, error) {
	all, err := f.texts("beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/train.tsv", "beir/qrels/dev.tsv")
	if err != nil {
		return nil, err
	}
	w := &beir{all[0], all[1], all[2:]}
	for _, q := range w.qrels {
		q.WriteString("query-id\tcorpus-id\tscore\n")
	}
	return w, nil
}

func (w *beir) document(d *Document) error {
	return w.corpus.json.Encode(beirDocument{d.ID, d.Title, d.Text, beirMetadata{d.URL, d.OldID, d.PageID}})
}

func (w *beir) query(q *Query) error {
	if err := w.queries.json.Encode(beirQuery{ID: q.ID, Text: q.Text}); err != nil {
		return err
	}
	_, err := bySplit(w.qrels, q.Split).WriteString(q.ID + "\t" + q.DocID + "\t1\n")
	return err
}

func (w *beir) close() error { return closeAll(append([]*text{w.corpus, w.queries}, w.qrels...)) }
