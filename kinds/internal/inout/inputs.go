package inout

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Read opens an input for a reader, and closes it. The reader's error is an error of the data, and begins with
// name, which the step has for the input, unless that is "".
func Read[T any](x *step.IO, in step.Input, name string, read func(io.Reader) (T, error)) (v T, err error) {
	r, err := x.Open(in)
	if err != nil {
		return v, err
	}
	defer r.Close()
	if v, err = read(r); err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, DataError(err)
}

// Scan is Read by a reader that returns nothing.
func Scan(x *step.IO, in step.Input, name string, read func(io.Reader) error) error {
	_, err := Read(x, in, name, func(r io.Reader) (struct{}, error) { return struct{}{}, read(r) })
	return err
}

// EachRow visits the documents of a collection.
func EachRow(x *step.IO, in step.Input, name string, visit func(*dedup.Document) error) error {
	return Scan(x, in, name, func(r io.Reader) error { return dedup.ReadDocuments(r, visit) })
}

// EachQuery visits the lines of queries, of all splits.
func EachQuery(x *step.IO, in step.Input, name string, visit func(*dedup.Query) error) error {
	return Scan(x, in, name, func(r io.Reader) error { return dedup.ReadQueries(r, -1, visit) })
}

// Files lists the files of several inputs, in order. The file of an input that is no tree is called name(i).
func Files(x *step.IO, ins step.Inputs, name func(i int) string) (all []artifacts.File) {
	for i, in := range ins {
		all = append(all, x.Files(in, name(i))...)
	}
	return all
}

// Called gives all inputs of Files one name.
func Called(name string) func(int) string { return func(int) string { return name } }

// Write creates an output, fills it by write, and closes it.
func Write(x *step.IO, output string, write func(io.Writer) error) error {
	w, err := x.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

// WriteAll is Write for several outputs, by name.
func WriteAll(x *step.IO, outputs map[string]func(io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if err := Write(x, name, outputs[name]); err != nil {
			return err
		}
	}
	return nil
}

// WriteText is Write through a buffer.
func WriteText(x *step.IO, output string, write func(*bufio.Writer) error) error {
	return Write(x, output, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		return errors.Join(write(b), b.Flush())
	})
}

// WriteLines is Write for compressed JSON lines: each value that is put is a line.
func WriteLines(x *step.IO, output string, each func(put func(any) error) error) error {
	return Write(x, output, func(w io.Writer) error { return dedup.WriteLines(w, each) })
}

// WriteFile is Write for a file of an output that is a tree.
func WriteFile(x *step.IO, output, name string, write func(io.Writer) error) error {
	w, err := x.CreateFile(output, name)
	if err != nil {
		return err
	}
	return errors.Join(write(w), w.Close())
}

// OpenTokenizer loads the one file of an attribute by load, which is a tokenizer's.
func OpenTokenizer[T any](x *step.IO, in step.Inputs, attribute string, load func(path string) (T, error)) (tok T, err error) {
	files := Files(x, in, Called(attribute))
	if len(files) != 1 {
		return tok, step.Permanent(fmt.Errorf("%s must be one file, got %d", attribute, len(files)))
	}
	path, err := x.Path(files[0].Digest)
	if err != nil {
		return tok, err
	}
	tok, err = load(path)
	return tok, step.Permanent(err)
}

// OpenCorpus opens the texts of a collection; the function closes them.
func OpenCorpus(x *step.IO, in step.Input) (*corpus.Reader, func(), error) {
	r, err := x.Open(in)
	if err != nil {
		return nil, nil, err
	}
	rd, err := corpus.NewReader(r)
	if err != nil {
		r.Close()
		return nil, nil, DataError(err)
	}
	return rd, func() { rd.Close(); r.Close() }, nil
}

// EachDocument visits the texts of a collection. An error of visit is returned as it is.
func EachDocument(ctx context.Context, x *step.IO, in step.Input, visit func(*corpus.Document) error) error {
	r, done, err := OpenCorpus(x, in)
	if err != nil {
		return err
	}
	defer done()
	for d, err := range r.All() {
		if err != nil {
			return DataError(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := visit(&d); err != nil {
			return err
		}
	}
	return nil
}

// DocumentNames returns the numbers of a collection's documents, their names in identifiers, rankings and qrels.
func DocumentNames(x *step.IO, in step.Input) ([]string, error) {
	return ofDocuments(x, in, func(d *dedup.Document) string { return strconv.Itoa(int(d.Doc)) })
}

// DocumentKeys returns the names that documents have outside of redsi.
func DocumentKeys(x *step.IO, in step.Input) ([]string, error) {
	return ofDocuments(x, in, func(d *dedup.Document) string { return d.Key })
}

func ofDocuments(x *step.IO, in step.Input, text func(*dedup.Document) string) (all []string, err error) {
	err = EachRow(x, in, "", func(d *dedup.Document) error {
		all = append(all, text(d))
		return nil
	})
	return all, err
}

// ReadVectors reads all rows of embeddings.
func ReadVectors(x *step.IO, in step.Input) (npy.Matrix, error) { return Read(x, in, "", npy.Read) }

func ReadIDs(x *step.IO, in step.Input) (*docid.Set, error) { return Read(x, in, "", docid.Read) }

// WriteVectors writes the rows as embeddings; unit is what a row stands for, in the plural.
func WriteVectors(x *step.IO, m npy.Matrix, unit string) error {
	x.Count(unit, int64(m.Rows))
	return Write(x, "embeddings", func(w io.Writer) error { return npy.Write(w, m) })
}

// WriteIDs writes a collection's identifiers as ids, and their statistics as report.
func WriteIDs(x *step.IO, set *docid.Set) error {
	stats, err := set.Statistics()
	if err != nil {
		return step.Permanent(fmt.Errorf("identifiers: %w", err))
	}
	x.Count("documents", int64(len(set.Identifiers)))
	return WriteAll(x, map[string]func(io.Writer) error{"ids": set.Write, "report": JSON(stats)})
}

// DataError marks a reader's error, which is about the data, as permanent. IO reports a failure of the store in its place.
func DataError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return step.Permanent(err)
}

// WriteReport counts, and writes output "report" as JSON.
func WriteReport(x *step.IO, v any, counts map[string]int) error {
	Count(x, counts)
	return WriteJSON(x, "report", v)
}

func Count(x *step.IO, counts map[string]int) {
	for name, n := range counts {
		x.Count(name, int64(n))
	}
}

// WriteJSON writes a value as an output: indented JSON with a newline.
func WriteJSON(x *step.IO, output string, v any) error { return Write(x, output, JSON(v)) }

// JSON writes a value as WriteJSON does.
func JSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		e.SetEscapeHTML(false)
		return step.Permanent(e.Encode(v))
	}
}

// ReadJSON decodes a small JSON input.
func ReadJSON(x *step.IO, in step.Input, v any) error {
	return Scan(x, in, "", func(r io.Reader) error {
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if err := values.Written(b, v); err != nil {
			return fmt.Errorf("input is not the expected JSON: %w", err)
		}
		return nil
	})
}

func ReadFile(x *step.IO, f artifacts.File) ([]byte, error) {
	r, err := x.OpenFile(f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// EachLine visits the lines of a file, plain or compressed, by their number from one, until visit wants no more. A
// line is valid during the call. Only what is visited is decompressed, and visit sees verified bytes only: the
// whole file is hashed before, which a worker does once for a file that has not changed since (IO.Path).
func EachLine(x *step.IO, f artifacts.File, visit func(n int, line []byte) (more bool, err error)) error {
	path, err := x.Path(f.Digest)
	if err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := unpack.Open(in)
	if err != nil {
		return DataError(fmt.Errorf("%s: %w", f.Name, err))
	}
	defer z.Close()
	lines := unpack.NewLines(z)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return DataError(fmt.Errorf("%s, line %d: %w", f.Name, lines.Number()+1, err))
		}
		if more, err := visit(lines.Number(), line); err != nil || !more {
			return err
		}
	}
}

// EachFile opens the files below a folder in lexical order, and visits them by their slash-separated names.
func EachFile(folder string, visit func(name string, in io.Reader) error) error {
	root := os.DirFS(folder)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		in, err := root.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		return visit(name, in)
	})
}

// CopyFolder stores every file below folder as a file of an output that is a tree.
func CopyFolder(ctx context.Context, x *step.IO, output, folder string) error {
	return EachFile(folder, func(name string, in io.Reader) error {
		f, err := x.PutFile(ctx, name, in)
		if err != nil {
			return err
		}
		return x.LinkFile(output, f)
	})
}

// StageTree links the verified files of a tree input, all or the named ones, into a folder under their own names.
func StageTree(x *step.IO, in step.Input, names ...string) (string, error) {
	folder, err := x.Scratch()
	if err != nil {
		return "", err
	}
	for _, f := range x.Files(in, "file") {
		if len(names) > 0 && !slices.Contains(names, f.Name) {
			continue
		}
		src, err := x.Path(f.Digest)
		if err != nil {
			return "", err
		}
		if err := local.Link(folder, f.Name, src); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// ModelFiles names what opening the model of a Hugging Face folder reads: config.json first, then files of weights.
func ModelFiles(x *step.IO, in step.Input) []string {
	return append([]string{"config.json"}, safetensors.Files(Names(x.Files(in, "file")))...)
}

func Names(files []artifacts.File) []string {
	return lists.Map(files, func(f artifacts.File) string { return f.Name })
}

// Or returns what a pointer points to, or a default.
func Or[T any](p *T, otherwise T) T {
	if p != nil {
		return *p
	}
	return otherwise
}

// Add adds a problem with the attribute at path.
func Add(ps *step.Problems, path, format string, args ...any) {
	*ps = append(*ps, step.Problem{Path: path, Detail: fmt.Sprintf(format, args...)})
}

// Check adds a problem with the attribute at path unless ok.
func Check(ps *step.Problems, path string, ok bool, format string, args ...any) {
	if !ok {
		Add(ps, path, format, args...)
	}
}

// Checks returns the Check of a Kind; add adds all problems of a configuration.
func Checks[C any](add func(C, *step.Problems)) func(C) error {
	return func(c C) error {
		var ps step.Problems
		add(c, &ps)
		return ps.Err()
	}
}

// CheckDevice adds a problem if there is no such device, and if precision is one that cards do not compute.
func CheckDevice(ps *step.Problems, on, precision string) {
	*ps = append(*ps, device.Check(on)...)
	Check(ps, "precision", precision != "int8" || !strings.HasPrefix(on, "cuda"), "int8 is computed on processors only; use bf16, or device cpu")
}

// CheckError adds err, unless it is nil, as a problem with the attribute at path.
func CheckError(ps *step.Problems, path string, err error) {
	if err != nil {
		Add(ps, path, "%v", err)
	}
}

// CheckPattern adds a problem unless path.Match takes the pattern.
func CheckPattern(ps *step.Problems, at, pattern string) {
	_, err := path.Match(pattern, "")
	Check(ps, at, err == nil, "%q is not a pattern of names", pattern)
}

// Tasks makes a part of a step of each configuration.
func Tasks[C any](of step.Part[C], parts []C) ([]step.Task, error) {
	var tasks []step.Task
	for _, c := range parts {
		t, err := of.Task(c)
		if err != nil {
			return nil, step.Permanent(err)
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// Telling is for work that depends on a server: progress reports how far the step is, and log what holds it up, in its
// log and, until there is more progress, beside the progress, where name comes first unless it is "".
func Telling(x *step.IO, unit, name string) (progress func(done, total int64), log func(msg string, args ...any)) {
	at := step.Progress{Unit: unit, Note: name}
	progress = func(done, total int64) {
		at.Done, at.Total, at.Note = done, total, name
		x.Report(at)
	}
	log = func(msg string, args ...any) {
		x.Log.Warn(msg, args...)
		at.Note = strings.TrimPrefix(name+": "+msg, ": ")
		x.Report(at)
	}
	return progress, log
}
