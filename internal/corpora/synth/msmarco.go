package synth

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// MSMarcoConfig says what to generate in the formats of MS MARCO's document ranking data.
// Two equal values give equal bytes.
type MSMarcoConfig struct {
	Seed         int `hcl:"seed,optional" min:"0" help:"every byte of the files follows from it and the sizes"`
	Documents    int `hcl:"documents,optional" help:"documents, in all files"`
	Files        int `hcl:"files,optional" help:"files of documents"`
	BodyWords    int `hcl:"body_words,optional" help:"mean number of words in a body; real ones have about 1,100"`
	TrainQueries int `hcl:"train_queries,optional" help:"queries of the train split"`
	DevQueries   int `hcl:"dev_queries,optional" help:"queries of the dev split"`
	TrapEvery    int `hcl:"trap_every,optional" help:"put the designed cases into every n-th block of 20 documents and queries; 0: plain ones only"`
	BadLines     int `hcl:"bad_lines,optional" help:"lines of documents that cannot be read"`
}

// DefaultMSMarco is a collection for tests and a first run.
func DefaultMSMarco() MSMarcoConfig {
	return MSMarcoConfig{Seed: 1, Documents: 200, Files: 2, BodyWords: 80, TrainQueries: 600, DevQueries: 120, TrapEvery: 1}
}

// Validate reports every value that cannot be used.
func (c MSMarcoConfig) Validate() error {
	var errs problems
	errs.within("documents", c.Documents, msmarcoBlock, math.MaxInt32/16)
	errs.within("files", c.Files, 1, 1000)
	errs.within("body_words", c.BodyWords, 1, 1_000_000)
	errs.within("train_queries", c.TrainQueries, msmarcoBlock, maxRecords)
	errs.within("dev_queries", c.DevQueries, msmarcoBlock, maxRecords)
	errs.within("trap_every", c.TrapEvery, 0, math.MaxInt32)
	errs.within("bad_lines", c.BadLines, 0, maxRecords)
	return errors.Join(errs...)
}

// MSMarcoTruth is what any correct reading of the files must find, from the design of the
// documents and judgments.
type MSMarcoTruth struct {
	Documents int             `json:"documents"`
	Empty     int             `json:"empty_documents"` // bodies without words
	BadLines  int             `json:"bad_lines"`
	Judged    MSMarcoGroups   `json:"judged"` // the documents that are relevant to a query, without the empty ones
	All       MSMarcoGroups   `json:"all"`    // all without the empty ones
	Train     MSMarcoQuestion `json:"train"`
	Dev       MSMarcoQuestion `json:"dev"`
}

// MSMarcoGroups are documents under the two keys.
type MSMarcoGroups struct {
	Exact           int `json:"exact"`
	NormalizedTitle int `json:"normalized_title"`
	Untitled        int `json:"untitled"` // without a letter or digit in the normalized title
}

// MSMarcoQuestion is what becomes of a split's queries and judgments if empty documents are
// left out.
type MSMarcoQuestion struct {
	Queries      int `json:"queries"`
	Judgments    int `json:"judgments"`
	Irrelevant   int `json:"not_relevant_judgments"`
	Repeated     int `json:"repeated_judgments"`
	Unknown      int `json:"judgments_without_query"`
	Unjudged     int `json:"queries_without_judgment"`
	Missing      int `json:"judgments_without_document"`
	OfEmpty      int `json:"judgments_of_empty_documents"`
	Documentless int `json:"queries_without_document"`
	Asked        int `json:"queries_asked"`
	Several      int `json:"queries_of_several_documents"`
	Merged       int `json:"judgments_of_merged_documents"` // under normalized_title
}

// msmarcoBlock is the number of documents, and of queries, among which each trap is once.
const msmarcoBlock = 20

// Places in a block of documents.
const (
	sameTitle      = 3  // the title of the document before
	spelledTitle   = 4  // the same in capitals, with an accent and more blanks
	noTitle        = 7  // an empty title
	blankTitle     = 8  // a title of blanks
	signsTitle     = 10 // a title of punctuation
	emptyBody      = 11 // blanks
	nastyBody      = 13 // tabs, quotation marks, a NUL, a carriage return, other scripts
	quotedTitle    = 14 // quotation marks that do not match
	unknownTitle   = 16 // a title of characters that BERT does not know
	firstUnwanted  = 18 // from here on no query asks for the documents
	msmarcoIDsStep = 13 // docids are apart
)

// Places in a block of queries.
const (
	twoDocuments   = 2  // the second one is another document
	twoOfOneTitle  = 5  // both have the same title
	gradeZero      = 6  // another document is judged and not relevant
	judgedTwice    = 8  // the same judgment again
	missingToo     = 9  // a second document does not exist
	asksForEmpty   = 12 // the only document is empty
	asksForMissing = 14 // the only document does not exist
	notJudged      = 17
	unknownQuery   = 19 // a judgment is of a query that does not exist
)

// msmarco generates the files.
type msmarco struct {
	cfg    MSMarcoConfig
	truth  *MSMarcoTruth
	judged []bool // documents
	create func(name string) (io.WriteCloser, error)
}

// GenerateMSMarco writes msmarco-docs-NN.tsv.gz, and queries and qrels of both splits, each
// through a writer that create returns.
func GenerateMSMarco(cfg MSMarcoConfig, create func(name string) (io.WriteCloser, error), progress func(done, total int64)) (*MSMarcoTruth, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	g := &msmarco{cfg: cfg, truth: &MSMarcoTruth{Documents: cfg.Documents, BadLines: cfg.BadLines}, judged: make([]bool, cfg.Documents), create: create}
	if err := g.questions("train", cfg.TrainQueries, 1, &g.truth.Train); err != nil {
		return nil, err
	}
	if err := g.questions("dev", cfg.DevQueries, 1+cfg.TrainQueries, &g.truth.Dev); err != nil {
		return nil, err
	}
	for i := range cfg.Files {
		if err := g.documents(i, progress); err != nil {
			return nil, err
		}
	}
	g.count()
	return g.truth, nil
}

// place is that of a document or query in its block, -1 in one without traps.
func (g *msmarco) place(i int) int {
	if g.cfg.TrapEvery == 0 || i/msmarcoBlock%g.cfg.TrapEvery != 0 {
		return -1
	}
	return i % msmarcoBlock
}

func (g *msmarco) wanted(i int) bool { return i%msmarcoBlock < firstUnwanted }

func (g *msmarco) docid(i int) string { return fmt.Sprintf("D%d", 1000+msmarcoIDsStep*i) }

// about is what document i is about.
func (g *msmarco) about(i int) (string, category) {
	r := rng{mix(uint64(g.cfg.Seed), forPage, uint64(i))}
	return keyword(uint64(g.cfg.Seed), i), pick(&r, categories)
}

func (g *msmarco) title(i int) string {
	title := func(i int) string {
		word, c := g.about(i)
		return fmt.Sprintf("%s (%s) - The %s Pages", word, c.noun, c.form)
	}
	switch g.place(i) {
	case sameTitle:
		return title(i - 1)
	case spelledTitle:
		return strings.ReplaceAll(strings.ToUpper(title(i-2)), "A", "Á") + "  "
	case noTitle:
		return ""
	case blankTitle:
		return "  "
	case signsTitle:
		return " -- !? "
	case quotedTitle:
		return `"` + title(i)
	case unknownTitle:
		return "\U0001F600 \U0001F389"
	}
	return title(i)
}

// titled is the document whose title i has, -1 if no title tells it apart.
func (g *msmarco) titled(i int) int {
	switch g.place(i) {
	case sameTitle:
		return i - 1
	case spelledTitle:
		return i - 2
	case noTitle, blankTitle, signsTitle, unknownTitle:
		return -1
	}
	return i
}

func (g *msmarco) body(i int) string {
	if g.place(i) == emptyBody {
		return "   "
	}
	r := rng{mix(uint64(g.cfg.Seed), forBody, uint64(i))}
	word, c := g.about(i)
	var b strings.Builder
	fmt.Fprintf(&b, "%s is a %s %s . It was %s in %d .", word, pick(&r, adjectives), c.noun, c.done, 1500+r.n(500))
	if g.place(i) == nastyBody {
		b.WriteString("\tA \"tab\t, a \\ , a NUL \x00 , a return \r and 東京 .\t")
	}
	for n := g.cfg.BodyWords/2 + r.n(g.cfg.BodyWords+1); n > 0; n -= 8 {
		fmt.Fprintf(&b, " The %s %s %s the %s of %s .", pick(&r, adjectives), pick(&r, c.field), pick(&r, verbs), pick(&r, nouns), word)
	}
	return b.String()
}

func (g *msmarco) documents(file int, progress func(done, total int64)) error {
	w, err := g.open(fmt.Sprintf("msmarco-docs-%02d.tsv.gz", file))
	if err != nil {
		return err
	}
	lo, hi := part(g.cfg.Documents, g.cfg.Files, file)
	badLo, badHi := part(g.cfg.BadLines, g.cfg.Files, file)
	for n := badLo; n < badHi; n++ {
		w.line([]string{"D17\thttp://no-body.example/", "X17\thttp://other.example/\ttitle\tbody", "D18\thttp://bytes.example/\t\xff\tbody"}[n%3])
	}
	for i := lo; i < hi; i++ {
		_, c := g.about(i)
		w.line(fmt.Sprintf("%s\thttp://%s.example.org/%d\t%s\t%s", g.docid(i), c.noun, i, g.title(i), g.body(i)))
		if progress != nil && i%1000 == 0 {
			progress(int64(i), int64(g.cfg.Documents))
		}
	}
	return w.close()
}

// questions writes the queries of a split and their judgments; first is the number of the
// first query.
func (g *msmarco) questions(split string, n, first int, t *MSMarcoQuestion) error {
	queries, err := g.open("msmarco-doc" + split + "-queries.tsv.gz")
	if err != nil {
		return err
	}
	qrels, err := g.open("msmarco-doc" + split + "-qrels.tsv.gz")
	if err != nil {
		return errors.Join(err, queries.close())
	}
	judge := func(query int, docid string, grade int) {
		t.Judgments++
		qrels.line(fmt.Sprintf("%d 0 %s %d", query, docid, grade))
	}
	for k := range n {
		r := rng{mix(uint64(g.cfg.Seed), forQuestion, uint64(first+k))}
		i := r.n(g.cfg.Documents)
		for !g.wanted(i) || g.place(i) == emptyBody || g.place(i) == sameTitle {
			i = r.n(g.cfg.Documents)
		}
		q, relevant := first+k, []int{i}
		t.Queries++
		switch g.place(k) {
		case twoDocuments:
			relevant = append(relevant, (i+1)%2) // never i itself
		case twoOfOneTitle:
			if block := i - i%msmarcoBlock; g.place(block) == 0 && block+sameTitle < g.cfg.Documents {
				relevant = []int{block + sameTitle - 1, block + sameTitle}
				t.Merged++
			}
		case gradeZero:
			judge(q, g.docid(0), 0)
			t.Irrelevant++
		case judgedTwice:
			judge(q, g.docid(i), 1)
			t.Repeated++
		case missingToo:
			judge(q, g.docid(g.cfg.Documents), 1)
			t.Missing++
		case asksForEmpty:
			if block := i - i%msmarcoBlock; g.place(block) == 0 && block+emptyBody < g.cfg.Documents {
				relevant = nil
				judge(q, g.docid(block+emptyBody), 1)
				t.OfEmpty++
				t.Documentless++
			}
		case asksForMissing:
			relevant = nil
			judge(q, g.docid(g.cfg.Documents+1), 1)
			t.Missing++
			t.Documentless++
		case notJudged:
			relevant = nil
			t.Unjudged++
		case unknownQuery:
			judge(90_000_000+q, g.docid(i), 1)
			t.Unknown++
		}
		for _, i := range relevant {
			judge(q, g.docid(i), 1)
			g.judged[i] = true
		}
		if len(relevant) > 0 {
			t.Asked++
			i = relevant[0]
		}
		if len(relevant) > 1 {
			t.Several++
		}
		word, c := g.about(i)
		queries.line(fmt.Sprintf("%d\t%s", q, []string{
			fmt.Sprintf("when was the %s %s %s", c.noun, strings.ToLower(word), c.done),
			fmt.Sprintf("what %s is %s", c.noun, strings.ToLower(word)),
			fmt.Sprintf("%s %s of %s", pick(&r, adjectives), pick(&r, c.field), strings.ToLower(word)),
		}[r.n(3)]))
	}
	return errors.Join(queries.close(), qrels.close())
}

// count fills in what is true of the documents.
func (g *msmarco) count() {
	titles := map[*MSMarcoGroups]map[int]bool{&g.truth.Judged: {}, &g.truth.All: {}}
	for i := range g.cfg.Documents {
		if g.place(i) == emptyBody {
			g.truth.Empty++
			continue
		}
		for _, t := range []*MSMarcoGroups{&g.truth.Judged, &g.truth.All} {
			if t == &g.truth.Judged && !g.judged[i] {
				continue
			}
			t.Exact++
			switch like := g.titled(i); {
			case like < 0:
				t.Untitled++
				t.NormalizedTitle++
			case !titles[t][like]:
				titles[t][like] = true
				t.NormalizedTitle++
			}
		}
	}
}

// lineFile is one compressed file of lines.
type lineFile struct {
	name string
	w    io.WriteCloser
	z    *gzip.Writer
	err  error
}

func (g *msmarco) open(name string) (*lineFile, error) {
	w, err := g.create(name)
	if err != nil {
		return nil, fmt.Errorf("synth: create %s: %w", name, err)
	}
	z, err := gzip.NewWriterLevel(w, deflateLevel)
	return &lineFile{name: name, w: w, z: z}, err
}

func (f *lineFile) line(s string) {
	if f.err == nil {
		_, f.err = io.WriteString(f.z, s+"\n")
	}
}

func (f *lineFile) close() error {
	if err := errors.Join(f.err, f.z.Close(), f.w.Close()); err != nil {
		return fmt.Errorf("synth: write %s: %w", f.name, err)
	}
	return nil
}
