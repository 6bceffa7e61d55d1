package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// DefaultFile is the pipeline that is read when none is named.
const DefaultFile = "pipelines.hcl"

// TestSuffix ends the names of files that test the pipeline beside them and are not part of it.
const TestSuffix = ".test.hcl"

// Limits on one source. The parser and the evaluator recurse, so that depth has
// to end somewhere; no file that a person wrote comes near.
const (
	maxSource = 4 << 20 // bytes
	maxDepth  = 1000    // brackets, blocks, templates and operators within each other
)

// Folder says which pipeline files stand for more than themselves: one named DefaultFile is
// all Parts of its folder. Any other is a pipeline of its own.
func Folder(name string) (folder string, ok bool) {
	return filepath.Dir(name), filepath.Base(name) == DefaultFile
}

// IsPart reports whether a file belongs to the pipeline that is its folder: every *.hcl but
// tests, settings and hidden files.
func IsPart(name string) bool { return isPipelineFile(name) && !isHidden(name) }

// Around is the DefaultFile beside a pipeline file of another name; "" if there is none.
func Around(name string) string {
	folder, whole := Folder(name)
	around := filepath.Join(folder, DefaultFile)
	if info, err := os.Stat(around); whole || err != nil || info.IsDir() || !IsPart(name) {
		return ""
	}
	return around
}

// Read collects the pipeline files that a path means: the Parts of that folder, or of the one
// that the file stands for, or that file; DefaultFile in the current one if the path is empty.
func Read(name string) (map[string][]byte, error) { return readFiles(name, isPipelineFile) }

// ReadAll is Read that takes files of tests, too.
func ReadAll(name string) (map[string][]byte, error) { return readFiles(name, isHCLFile) }

func readFiles(name string, takes func(file string) bool) (map[string][]byte, error) {
	files, err := filesOf(name, takes)
	if err != nil {
		return nil, err
	}
	sources := make(map[string][]byte, len(files))
	for _, f := range files {
		b, err := readRegular(f, maxSource, "large constants belong in files of their own that file() reads")
		if err != nil {
			return nil, fmt.Errorf("read the pipeline: %w", err)
		}
		sources[filepath.ToSlash(f)] = b
	}
	return sources, nil
}

func filesOf(name string, takes func(file string) bool) ([]string, error) {
	name = cmp.Or(name, DefaultFile)
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && name == DefaultFile {
		return nil, fmt.Errorf("there is no %s here: name a pipeline with -f FILE or -f FOLDER", DefaultFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the pipeline: %w", err)
	}
	folder, whole := Folder(name)
	switch {
	case info.IsDir():
		folder = name
	case !whole:
		switch {
		case !isHCLFile(name):
			return nil, fmt.Errorf("%s is not a pipeline: its name does not end in .hcl", name)
		case !takes(name) && filepath.Base(name) == LocalFile:
			return nil, fmt.Errorf("%s is not a pipeline: it has settings for the one beside it", name)
		case !takes(name):
			return nil, fmt.Errorf("%s is a test file, not a pipeline: redsi test %[1]s checks and runs it", name)
		}
		return []string{filepath.Clean(name)}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the pipeline: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && takes(e.Name()) && !isHidden(e.Name()) {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder %s has no *.hcl file", folder)
	}
	return files, nil
}

func isHCLFile(name string) bool { return strings.HasSuffix(name, ".hcl") }

func isHidden(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") }

func isPipelineFile(name string) bool {
	return isHCLFile(name) && !IsBeside(name)
}

// IsBeside reports whether a file is one of those that are beside pipelines: tests and
// settings.
func IsBeside(name string) bool {
	return strings.HasSuffix(name, TestSuffix) || filepath.Base(name) == LocalFile
}

// CheckSyntax reports what is not HCL in files of pipelines and tests, and nothing else.
func CheckSyntax(sources map[string][]byte) Diagnostics {
	l := newLoader(sources, Options{})
	for _, name := range sortedKeys(sources) {
		l.parseFile(name, sources[name])
	}
	return l.diags.done()
}

// body is one parsed pipeline file.
type body struct {
	name string
	*hclsyntax.Body
}

func pipelineFiles(sources map[string][]byte) []string {
	return slices.DeleteFunc(sortedKeys(sources), func(name string) bool { return !isPipelineFile(name) })
}

// parse reads the loader's files; what is not HCL is reported and left out.
func (l *loader) parse() {
	names := pipelineFiles(l.files)
	order := func(name string) string {
		if _, whole := Folder(name); whole {
			return "" // the file that stands for the others is first
		}
		return name
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	if len(names) == 0 {
		l.diags.error(hcl.Range{Filename: DefaultFile, Start: hcl.InitialPos, End: hcl.InitialPos},
			"No pipeline", "There is no file whose name ends in .hcl.")
	}
	read := l.read
	if l.parent != nil {
		read = l.modRead
	}
	for _, name := range names {
		read[name] = l.files[name]
		b, ok := l.parsed[name]
		if !ok {
			b = l.parseFile(name, l.files[name])
			l.parsed[name] = b
		}
		if b != nil {
			l.bodies = append(l.bodies, b)
		}
	}
}

// parseFile returns nil for what is not HCL.
func (l *loader) parseFile(name string, src []byte) *body {
	if !l.tame(name, src) {
		return nil
	}
	l.diags.sources[name] = src
	f, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	l.diags.hcl(ds, hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos})
	if ds.HasErrors() {
		return nil
	}
	b := &body{name, f.Body.(*hclsyntax.Body)}
	l.rewrite(b.Body)
	return b
}

// tame refuses sources whose size, depth or texts the parser and the evaluator were not
// made for.
func (l *loader) tame(name string, src []byte) bool {
	if len(src) > maxSource {
		l.diags.error(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}, "Source too large",
			fmt.Sprintf("%s has %d bytes; a pipeline file may have %d. Large constants belong in a file of their own that file() reads.", name, len(src), maxSource))
		return false
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos) // the parser reports what is wrong here
	d := wild(tokens)
	if d != nil {
		l.diags.error(*d.Subject, d.Summary, d.Detail)
	}
	return d == nil
}

// wild is what is wrong with tokens that tame refuses.
func wild(tokens hclsyntax.Tokens) *hcl.Diagnostic {
	rng, err := badToken(tokens)
	if err == nil {
		var deep bool
		if rng, deep = tooDeep(tokens); deep {
			err = over("Nesting too deep", "Brackets, templates or operators are nested more than %d deep here. Name the inner parts in locals.", maxDepth)
		}
	}
	if err == nil {
		return nil
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: err.summary, Detail: err.detail, Subject: &rng}
}

// tooDeep finds where the parts of an expression, or blocks, stand deeper within
// each other than maxDepth. Operators count too, as each is within the next one,
// until a comma or the end of a line ends their chain.
func tooDeep(tokens hclsyntax.Tokens) (hcl.Range, bool) {
	type level struct {
		lines bool // the end of a line ends a chain
		chain int
	}
	stack, depth := []level{{lines: true}}, 0
	for _, t := range tokens {
		top := &stack[len(stack)-1]
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			top.chain++ // an index, a call or an object may follow another
			depth++
			stack = append(stack, level{lines: t.Type == hclsyntax.TokenOBrace})
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			if len(stack) > 1 {
				depth -= top.chain
				stack = stack[:len(stack)-1]
			}
		case hclsyntax.TokenComma:
			depth, top.chain = depth-top.chain, 0
		case hclsyntax.TokenNewline:
			if top.lines {
				depth, top.chain = depth-top.chain, 0
			}
		case hclsyntax.TokenStringLit, hclsyntax.TokenQuotedLit:
			if top.chain > 0 && !top.lines { // the parts of a template stand side by side
				depth, top.chain = depth-1, top.chain-1
			}
		case hclsyntax.TokenIdent, hclsyntax.TokenNumberLit, hclsyntax.TokenComment:
		default:
			top.chain++
			depth++
		}
		if depth > maxDepth {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

// beside resolves a path that a source names: relative to the source's folder.
func beside(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
