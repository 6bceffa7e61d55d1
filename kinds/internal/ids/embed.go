package ids

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/pytext"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

type EmbedConfig struct {
	inout.Texts
	Prefix      string      `hcl:"prefix,added" help:"put before every text and its title: \"query: \" and \"passage: \" of E5"`
	Model       step.Input  `hcl:"model" accepts:"files,hf/model" help:"Hugging Face folder of a BERT encoder: config.json and model.safetensors or pytorch_model.bin"`
	Tokenizer   step.Inputs `hcl:"tokenizer" accepts:"files" help:"the encoder's uncased WordPiece tokenizer.json, plain or compressed"`
	Pooling     string      `hcl:"pooling,optional" enum:"cls,mean,max" help:"vector of a text: the last hidden state of its first token, [CLS], as NCI takes it; or the mean or the largest of all tokens' with [CLS] and [SEP]; the paper does not say"`
	Normalize   bool        `hcl:"normalize,added" help:"vectors have unit length, so that their inner product is their cosine"`
	MaxTokens   int         `hcl:"max_tokens,optional" min:"2" help:"tokens of a text that are read, from its start, [CLS] and [SEP] included"`
	Precision   string      `hcl:"precision,added" enum:"fp32,bf16,int8" help:"of matrix products, whose sums are fp32, as norms and vectors are. bf16 gives other vectors, of a cosine with those of fp32 of 0.9999 (docs/models.md), and is slower than fp32 on processors without AVX512-BF16 or AMX; int8, on processors only, is faster still, and its vectors are of a cosine of 0.9998"`
	BatchTokens int         `hcl:"batch_tokens,optional,nokey" min:"1" help:"tokens that are computed together: memory grows with it, vectors differ by rounding only"`
	Device      string      `hcl:"device,optional,nokey" help:"cpu, cuda, cuda:1 …; auto: a free card of the worker, else the CPU"`
}

var Embed = step.Define(step.Kind[EmbedConfig]{
	Name:    "embed",
	Resumes: true, Counts: "document",
	Version: 2,
	Doc: `Embed each document, or each query of a split, by an encoder (appendix "Semantic Identifiers").
The paper's is google/bert_uncased_L-8_H-512_A-8 over the first 512 tokens of the
text; which text and which vector it does not say: here, the title in the document's
URL, the corpus's complete text, and the last hidden state of [CLS]. Texts stream; sequences are not padded.
Queries have one row each, in the order of their lines, as kind dense wants them.
Resumes, on any worker, at most 2,048 texts back.
Cost: one forward pass per text; memory is the model, batch_tokens x its
width, and 4 bytes x texts x hidden size for the vectors.`,
	Example: `step "embed" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
  model     = step.download.bert.files
  tokenizer = step.download.bert_tokenizer.files
}`,
	Outputs: []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query",
		Alike: step.Vectors{Margin: step.Margin{Rel: 1e-3}, Cosine: 0.9999}, Why: "layers of float32 sums round differently on another processor; the order of neighbours stays"}},
	Defaults: EmbedConfig{Texts: inout.Texts{Split: "dev", Title: true}, Pooling: "cls", MaxTokens: 512, Precision: "fp32", BatchTokens: 8192, Device: "auto"},
	Queue:    step.GPU,
	Needs:    step.Libtorch,
	Device:   func(c EmbedConfig) string { return c.Device },
	Check: inout.Checks(func(c EmbedConfig, ps *step.Problems) {
		c.Texts.Check(ps)
		inout.CheckDevice(ps, c.Device, c.Precision)
	}),
	// The tokens that are read if all documents are long enough, and the bytes of vectors as wide as the paper's.
	Work: func(c EmbedConfig) step.Work {
		texts := step.Amount{Times: 1, Of: step.Inputs{c.Corpus}, Count: "documents"}
		tokens := float64(c.MaxTokens)
		if !c.Corpus.Set() {
			texts.Of, texts.Count = step.Inputs{c.Queries}, "records."+c.Split
			tokens = math.Min(queryTokens, tokens)
		}
		bytes := texts
		bytes.Times = 4 * 512
		texts.Times = tokens
		return step.Work{Does: []step.Doing{{Unit: step.Tokens, Amount: texts, Model: c.Model}}, Counts: map[string]step.Amount{step.BytesCount: bytes}}
	},
})

// queryTokens is about how many tokens a query of Natural Questions has, of 9.2 words on average, with special tokens.
const queryTokens = 14

type embedHashingConfig struct {
	inout.Texts
	Dimensions int `hcl:"dimensions,optional" min:"1" help:"length of the vectors"`
	Words      int `hcl:"words,optional" min:"1" help:"words of each text that are read, from its start"`
}

var EmbedHashing = step.Define(step.Kind[embedHashingConfig]{
	Name:    "embed_hashing",
	Version: 2,
	Doc: `Embed each document or query by feature hashing of its words, without a model.
Each lower-cased word adds ±(1 + log count) at a hashed position; vectors have
unit length. A stand-in for embed where no weights are at hand. Cost: reading the
texts; memory is 4 bytes x documents x dimensions.`,
	Example: `step "embed_hashing" "title" {
  corpus    = step.serialize.nq["title/nci_norm"].corpus
  documents = step.dedup.nq["title"].documents
}`,
	Outputs: []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query",
		Alike: step.Vectors{Margin: step.Margin{Rel: 1e-6}, Cosine: 1 - 1e-9}, Why: "a processor that multiplies and adds at once rounds a sum differently"}},
	Defaults: embedHashingConfig{Texts: inout.Texts{Split: "dev", Title: true}, Dimensions: 512, Words: 512},
	Check:    inout.Checks(func(c embedHashingConfig, ps *step.Problems) { c.Texts.Check(ps) }),
	Run: func(ctx context.Context, x *step.IO, c embedHashingConfig) error {
		m := npy.Matrix{Cols: c.Dimensions}
		for text, err := range c.Texts.Each(x) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			m.Data = append(m.Data, hashWords(text, c.Words, c.Dimensions)...)
			m.Rows++
		}
		return inout.WriteVectors(x, m, c.Texts.Unit())
	},
})

// hashWords is the signed hashing trick over a text's first words.
func hashWords(text string, words, dimensions int) []float32 {
	counts := map[string]int{}
	var order []string // by first occurrence: sums must not depend on map order
	for w := range strings.FieldsFuncSeq(pytext.Lower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if words--; words < 0 {
			break
		}
		if counts[w]++; counts[w] == 1 {
			order = append(order, w)
		}
	}
	v := make([]float64, dimensions)
	for _, w := range order {
		h := fnv.New64a()
		h.Write([]byte(w))
		sum := h.Sum64()
		weight := 1 + math.Log(float64(counts[w]))
		if sum>>63 == 1 {
			weight = -weight
		}
		v[sum%uint64(dimensions)] += weight
	}
	norm := 0.0
	for _, a := range v {
		norm += a * a
	}
	out := make([]float32, dimensions)
	if norm == 0 {
		return out
	}
	for i, a := range v {
		out[i] = float32(a / math.Sqrt(norm))
	}
	return out
}

type importEmbeddingsConfig struct {
	Files     step.Inputs `hcl:"files" accepts:"files,file" help:"two-dimensional .npy of float16, float32 or float64 in C order, as numpy.save writes them, plain or compressed; the rows of several follow one another"`
	File      string      `hcl:"file,optional" help:"name, or pattern with *, of the files to read; default: all whose names have .npy"`
	Documents step.Input  `hcl:"documents,optional" accepts:"nq/documents" help:"collection: a row is one of its documents"`
	Queries   step.Input  `hcl:"queries,optional" accepts:"nq/queries" help:"queries of the collection instead: a row is one of the split's"`
	Split     string      `hcl:"split,optional" enum:"train,dev,test" help:"split of the queries"`
	Names     step.Inputs `hcl:"names,optional" accepts:"files,file" help:"a name a line for each row: a document's key, a query's name; default: rows are in the order of the documents, or of the split's queries"`
	NamesFile string      `hcl:"names_file,optional" help:"which file has the names, if there are several"`
	Extra     string      `hcl:"extra,optional" enum:"fail,leave_out" help:"what to do with a row whose name the collection does not have"`
}

var ImportEmbeddings = step.Define(step.Kind[importEmbeddingsConfig]{
	Name:    "import_embeddings",
	Version: 1,
	Doc: `Import vectors that another program computed, one of each document or query.
Rows are in the order of the collection, or a file of names says which is whose: then
they are put in that order, and each document or query must have one. Numbers become
float32. A shape that does not fit, a number that is not finite, and a name that is
missing, unknown or there twice are errors that say the file and the row, from 0.
Cost: a copy; memory is 4 bytes x rows x columns.`,
	Example: `step "import_embeddings" "mine" {
  files     = step.download.vectors.files
  documents = step.dedup.nq["title"].documents
  names     = step.download.names.files
}`,
	Outputs:  []step.Output{{Name: "embeddings", Type: "docid/embeddings", Help: ".npy, float32, one row per document or query"}},
	Defaults: importEmbeddingsConfig{Split: string(nq.Dev), Extra: "fail"},
	Check: inout.Checks(func(c importEmbeddingsConfig, ps *step.Problems) {
		inout.Check(ps, "documents", c.Documents.Set() != c.Queries.Set(), "set exactly one of documents and queries: it says whose vectors these are")
		inout.CheckPattern(ps, "file", c.File)
		inout.CheckPattern(ps, "names_file", c.NamesFile)
		inout.Check(ps, "names", len(c.Names) > 0 || c.NamesFile == "" && c.Extra == "fail", "is needed by names_file and extra")
	}),
	Run: runImportEmbeddings,
})

func runImportEmbeddings(ctx context.Context, x *step.IO, c importEmbeddingsConfig) error {
	owners, err := c.owners(x)
	if err != nil {
		return err
	}
	v := importedVectors{owners: owners, given: make([]bool, len(owners))}
	if len(c.Names) > 0 {
		if err := v.readNames(x, c); err != nil {
			return err
		}
	}
	files, err := inout.ChosenFiles(x, c.Files, "files", c.File, "*.npy*")
	if err != nil {
		return err
	}
	for _, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := v.read(x, f); err != nil {
			return inout.DataError(fmt.Errorf("%s: %w", f.Name, err))
		}
	}
	if err := v.checkComplete(); err != nil {
		return step.Permanent(err)
	}
	x.Count("rows_left_out", int64(v.row-len(owners)))
	return inout.WriteVectors(x, v.matrix, inout.Texts{Queries: c.Queries}.Unit())
}

// owners returns the names of the documents or queries that need a row, in order.
func (c importEmbeddingsConfig) owners(x *step.IO) ([]string, error) {
	if c.Queries.Set() {
		questions, err := inout.ReadQuestions(x, c.Queries, nq.Split(c.Split), nil)
		return lists.Map(questions, func(q inout.Question) string { return q.Key }), err
	}
	return inout.DocumentKeys(x, c.Documents)
}

type importedVectors struct {
	owners []string
	given  []bool // of owners
	rows   []int  // owner of each row, or nobody's; nil: rows are in order
	row    int    // that is read next
	matrix npy.Matrix
}

// maxColumns bounds the columns that a header may promise.
const maxColumns = 1 << 16

// nobodys is a row that is left out.
const nobodys = -1

func (v *importedVectors) readNames(x *step.IO, c importEmbeddingsConfig) error {
	places := make(map[string]int, len(v.owners))
	for i, name := range v.owners {
		if _, twice := places[name]; twice {
			return step.Permanent(fmt.Errorf("two in the collection are named %q: give the rows in its order, without names", name))
		}
		places[name] = i
	}
	files, err := inout.ChosenFiles(x, c.Names, "names", c.NamesFile, "*")
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return step.Permanent(fmt.Errorf("names has %d files; choose one with names_file", len(files)))
	}
	rows := map[int]int{} // of owners, from one
	v.rows = []int{}
	return inout.EachLine(x, files[0], func(n int, line []byte) (bool, error) {
		name := strings.TrimSuffix(string(line), "\r")
		at, ok := places[name]
		switch {
		case !ok && c.Extra == "leave_out":
			at = nobodys
		case !ok:
			return false, step.Permanent(fmt.Errorf("%s, line %d: %q is not a name in the collection; extra = \"leave_out\" leaves its row out", files[0].Name, n, name))
		case rows[at] > 0:
			return false, step.Permanent(fmt.Errorf("%s, line %d: %q is on line %d already", files[0].Name, n, name, rows[at]))
		default:
			rows[at] = n
		}
		v.rows = append(v.rows, at)
		return true, nil
	})
}

func (v *importedVectors) read(x *step.IO, f artifacts.File) error {
	in, err := x.OpenFile(f)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := unpack.Open(in)
	if err != nil {
		return err
	}
	defer z.Close()
	vectors, err := npy.OpenAny(z)
	if err != nil {
		return err
	}
	if vectors.Cols > maxColumns {
		return fmt.Errorf("rows have %d numbers; at most %d are taken", vectors.Cols, maxColumns)
	}
	if v.matrix.Data == nil {
		v.matrix = npy.Matrix{Rows: len(v.owners), Cols: vectors.Cols, Data: make([]float32, len(v.owners)*vectors.Cols)}
	}
	if vectors.Cols != v.matrix.Cols {
		return fmt.Errorf("rows have %d numbers, rows of the files before %d", vectors.Cols, v.matrix.Cols)
	}
	row := make([]float32, vectors.Cols)
	for i := range vectors.Rows {
		if err := vectors.Read(row); err != nil {
			return err
		}
		for column, number := range row {
			if w := float64(number); math.IsNaN(w) || math.IsInf(w, 0) {
				return fmt.Errorf("row %d, column %d is %v as float32; vectors have finite numbers", i, column, w)
			}
		}
		owner, err := v.ownerOf(v.row)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		if v.row%4096 == 0 {
			x.Report(step.Progress{Done: int64(v.row), Total: int64(len(v.owners)), Unit: "rows"})
		}
		if v.row++; owner != nobodys {
			v.given[owner] = true
			copy(v.matrix.Row(owner), row)
		}
	}
	return vectors.End()
}

func (v *importedVectors) ownerOf(row int) (int, error) {
	switch {
	case v.rows == nil && row < len(v.owners):
		return row, nil
	case v.rows == nil:
		return 0, fmt.Errorf("only %d documents or queries need a vector; give names if there are more rows", len(v.owners))
	case row < len(v.rows):
		return v.rows[row], nil
	}
	return 0, fmt.Errorf("there are only %d names", len(v.rows))
}

func (v *importedVectors) checkComplete() error {
	if v.rows != nil && v.row < len(v.rows) {
		return fmt.Errorf("there are %d names and %d rows", len(v.rows), v.row)
	}
	if i := slices.Index(v.given, false); i >= 0 {
		return fmt.Errorf("%q, number %d of %d, has no vector: the files have %d rows", v.owners[i], i, len(v.owners), v.row)
	}
	return nil
}
