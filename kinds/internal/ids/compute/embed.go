package compute

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid/kmeans"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/model/bert"
	"github.com/redsi/redsi/internal/model/here"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// embedChunk is how many texts are read ahead, for batches of like length.
const embedChunk = 256

func runEmbed(ctx context.Context, x *step.IO, c ids.EmbedConfig) error {
	runtime.LockOSThread() // libtorch keeps a pool of threads per thread that calls it
	defer runtime.UnlockOSThread()
	var e encoder
	defer e.close()
	if err := e.open(ctx, x, c); err != nil {
		return err
	}
	of := c.Texts
	m := npy.Matrix{Cols: int(e.model.Config.Hidden)}
	pieces, err := resumeVectors(ctx, x, &m, of.Unit())
	if err != nil {
		return err
	}
	read := 0
	var texts [][]int32
	embed := func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if read += len(texts); read <= m.Rows {
			return nil // the checkpoint, which ends with a chunk, has their vectors
		}
		vectors, err := e.model.Embed(texts, bert.Pooling(c.Pooling), c.BatchTokens)
		if err != nil {
			return fmt.Errorf("embed, %s from %d: %w", of.Unit(), m.Rows, err)
		}
		for i, v := range vectors {
			if c.Normalize {
				normalize(v)
			}
			if one := (npy.Matrix{Rows: 1, Cols: len(v), Data: v}); kmeans.Check(one) != nil {
				return step.Permanent(fmt.Errorf("model: vector %d of the %s is not finite: do the weights belong to config.json?", m.Rows+i, of.Unit()))
			}
			m.Data = append(m.Data, v...)
		}
		m.Rows += len(vectors)
		if err := pieces.save(ctx, m); err != nil {
			return fmt.Errorf("checkpoint of %d %s: %w", m.Rows, of.Unit(), err)
		}
		x.Report(step.Progress{Done: int64(m.Rows), Unit: of.Unit()})
		return nil
	}
	for text, err := range of.Each(x) {
		if err != nil {
			return err
		}
		if texts = append(texts, e.tokens(x, c.Prefix+text)); len(texts) == embedChunk {
			if err := embed(); err != nil {
				return err
			}
			texts = nil
		}
	}
	if err := embed(); err != nil {
		return err
	}
	if read < m.Rows {
		return fmt.Errorf("a checkpoint has the vectors of %d %s, there are %d: remove this step's records below checkpoints/ in the store", m.Rows, of.Unit(), read)
	}
	return inout.WriteVectors(x, m, of.Unit())
}

// normalize gives a vector unit length, as torch's normalize does: zeros stay zeros.
func normalize(v []float32) {
	sum := 0.0
	for _, a := range v {
		sum += float64(a) * float64(a)
	}
	norm := max(math.Sqrt(sum), 1e-12)
	for i, a := range v {
		v[i] = float32(float64(a) / norm)
	}
}

type encoder struct {
	model *bert.Model
	tok   subword.Encoder
	limit int
	empty int // special tokens, which an empty text has too
}

// open loads the model and its tokenizer. The caller closes the encoder, after an error too.
func (e *encoder) open(ctx context.Context, x *step.IO, c ids.EmbedConfig) error {
	device, err := here.Of(ctx, c.Device)
	if err != nil {
		return err
	}
	e.limit = c.MaxTokens
	tok, err := inout.OpenTokenizer(x, c.Tokenizer, "tokenizer", subword.LoadEncoder)
	if err != nil {
		return err // tok may be a nil *Subword, which close must not see
	}
	e.tok = tok
	special, _ := e.tok.EncodeTruncated("", math.MaxInt32)
	if e.empty = len(special); c.MaxTokens < e.empty {
		return step.Permanent(fmt.Errorf("max_tokens is %d, and the tokenizer puts %d special ones around a text", c.MaxTokens, e.empty))
	}
	folder, err := inout.StageTree(x, c.Model, append(inout.ModelFiles(x, c.Model), moduleFiles(x.Files(c.Model, "file"))...)...)
	if err != nil {
		return err
	}
	differences, err := asPublished(c, folder)
	if err != nil {
		return step.Permanent(fmt.Errorf("model: %w", err))
	}
	for _, d := range differences {
		x.Log.Warn(d)
		x.Count("other_than_published", 1)
	}
	if e.model, err = bert.Load(folder, device); errors.Is(err, fs.ErrNotExist) {
		return step.Permanent(fmt.Errorf("model: %w; want config.json and model.safetensors or pytorch_model.bin", err))
	} else if err != nil {
		return step.Permanent(fmt.Errorf("model: %w", err))
	}
	if err := e.model.In(c.Precision); err != nil {
		return step.Permanent(fmt.Errorf("precision: %w", err))
	}
	if warning := e.model.Slow(); warning != "" {
		x.Log.Warn(warning)
	}
	if unused := e.model.Unused; len(unused) > 0 {
		x.Log.Info("nothing is computed with these tensors of the model's file", "tensors", unused)
	}
	switch mc := e.model.Config; {
	case int64(e.tok.VocabSize()) > mc.VocabSize:
		err = fmt.Errorf("tokenizer has %d tokens, the model embeds %d: they do not belong together", e.tok.VocabSize(), mc.VocabSize)
	case int64(c.MaxTokens) > mc.MaxTokens():
		err = fmt.Errorf("max_tokens is %d, the model has %d positions", c.MaxTokens, mc.MaxTokens())
	}
	return step.Permanent(err)
}

func (e *encoder) close() {
	if e.model != nil {
		e.model.Close()
	}
	if e.tok != nil {
		e.tok.Close()
	}
}

// tokens returns a text's first tokens, [CLS] … [SEP].
func (e *encoder) tokens(x *step.IO, text string) []int32 {
	ids, truncated := e.tok.EncodeTruncated(text, e.limit)
	if truncated {
		x.Count("truncated_texts", 1)
	}
	if len(ids) == e.empty && !truncated {
		x.Count("empty_texts", 1)
	}
	return ids
}

// moduleFiles names what a folder of sentence-transformers has beside the model: its modules, and their configurations.
func moduleFiles(files []artifacts.File) []string {
	below := lists.Filter(inout.Names(files), func(name string) bool { return strings.HasSuffix(name, "/config.json") })
	return append([]string{"modules.json"}, below...)
}

// asPublished says how a configuration differs from what a folder of sentence-transformers computes, if it is one.
func asPublished(c ids.EmbedConfig, folder string) (differences []string, err error) {
	var modules []struct{ Path, Type string }
	if ok, err := readModule(folder, "modules.json", &modules); err != nil || !ok {
		return nil, err
	}
	normalized := false
	for _, m := range modules {
		switch name := m.Type[strings.LastIndex(m.Type, ".")+1:]; name {
		case "Transformer":
		case "Normalize":
			normalized = true
		case "Pooling":
			var p struct {
				CLS     bool `json:"pooling_mode_cls_token"`
				Mean    bool `json:"pooling_mode_mean_tokens"`
				Max     bool `json:"pooling_mode_max_tokens"`
				Root    bool `json:"pooling_mode_mean_sqrt_len_tokens"`
				Weights bool `json:"pooling_mode_weightedmean_tokens"`
				Last    bool `json:"pooling_mode_lasttoken"`
			}
			name := path.Join(m.Path, "config.json")
			ok, err := readModule(folder, name, &p)
			if err != nil {
				return nil, err
			}
			if !ok {
				differences = append(differences, fmt.Sprintf("pooling is %q; the pooling that the model was published with is unknown, since %s is not among its files", c.Pooling, name))
				continue
			}
			var modes []string
			for _, mode := range []struct {
				on   bool
				name string
			}{{p.CLS, "cls"}, {p.Mean, "mean"}, {p.Max, "max"}, {p.Root, "mean over the root of the length"}, {p.Weights, "a weighted mean"}, {p.Last, "the last token"}} {
				if mode.on {
					modes = append(modes, mode.name)
				}
			}
			if published := strings.Join(modes, " and "); published != c.Pooling {
				differences = append(differences, fmt.Sprintf("pooling is %q, the model was published with %q", c.Pooling, published))
			}
		default:
			differences = append(differences, fmt.Sprintf("the model was published with a module %s, which redsi does not compute", name))
		}
	}
	if normalized && !c.Normalize {
		differences = append(differences, "normalize is false, the model was published with vectors of unit length")
	}
	return differences, nil
}

func readModule(folder, name string, v any) (bool, error) {
	if !filepath.IsLocal(name) {
		return false, fmt.Errorf("modules.json: %q is not below the folder", name)
	}
	text, err := os.ReadFile(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// embedPiece is how many vectors a checkpoint adds: the loss of a worker costs at most that many forward passes.
const embedPiece = 2048

// vectorPieces are the vectors of an unfinished embed step, a .npy for each piece: a checkpoint writes only what is new.
type vectorPieces struct {
	kept  step.Checkpoints
	files map[string]artifacts.File
	rows  int // in files
}

// resumeVectors reads the pieces that an earlier attempt left into m; unit is what its rows stand for.
func resumeVectors(ctx context.Context, x *step.IO, m *npy.Matrix, unit string) (*vectorPieces, error) {
	p := &vectorPieces{kept: x.Checkpoints(), files: map[string]artifacts.File{}}
	ok, err := p.kept.Latest(ctx, func(rows int64, files map[string]artifacts.File) error {
		joined, err := p.read(ctx, files, rows, m.Cols)
		if err != nil {
			return err
		}
		*m, p.files, p.rows = joined, files, joined.Rows
		return nil
	})
	if err != nil {
		return nil, err
	}
	if ok {
		x.Count(unit+"_resumed", int64(p.rows))
	}
	return p, nil
}

// read joins the pieces; the error is step.Unfit where intact bytes are not that many vectors of this step's.
func (p *vectorPieces) read(ctx context.Context, files map[string]artifacts.File, rows int64, cols int) (npy.Matrix, error) {
	m := npy.Matrix{Cols: cols}
	unfit := func(format string, args ...any) (npy.Matrix, error) {
		return npy.Matrix{}, step.Unfit(fmt.Errorf(format, args...))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if want := pieceName(m.Rows); name != want {
			return unfit("it has %s where %s would follow", name, want)
		}
		r, err := p.kept.Open(ctx, files[name])
		if err != nil {
			return npy.Matrix{}, err
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return npy.Matrix{}, err
		}
		part, err := npy.Read(bytes.NewReader(b))
		if err != nil {
			return unfit("%s: %w", name, err)
		}
		if part.Cols != cols {
			return unfit("%s has vectors of %d numbers, the model makes %d", name, part.Cols, cols)
		}
		if err := kmeans.Check(part); err != nil {
			return unfit("%s: %w", name, err)
		}
		m.Rows += part.Rows
		m.Data = append(m.Data, part.Data...)
	}
	if int64(m.Rows) != rows || m.Rows%embedChunk != 0 {
		return unfit("it has %d vectors", m.Rows)
	}
	return m, nil
}

// pieceName names the piece that begins with the vector of a document.
func pieceName(document int) string { return fmt.Sprintf("%09d.npy", document) }

// save adds the rows of m beyond the newest checkpoint, once they fill a piece.
func (p *vectorPieces) save(ctx context.Context, m npy.Matrix) error {
	if m.Rows-p.rows < embedPiece {
		return nil
	}
	var b bytes.Buffer
	if err := npy.Write(&b, npy.Matrix{Rows: m.Rows - p.rows, Cols: m.Cols, Data: m.Data[p.rows*m.Cols:]}); err != nil {
		return err
	}
	name := pieceName(p.rows)
	f, err := p.kept.Put(ctx, name, &b)
	if err != nil {
		return err
	}
	p.files[name] = f
	p.rows = m.Rows
	return p.kept.Save(ctx, int64(m.Rows), p.files)
}
