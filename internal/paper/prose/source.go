package prose

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits for a paper; exceeding them is an error.
const (
	mostFiles = 2000
	mostBytes = 64 << 20
)

// Place is a position in a paper.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"` // in characters, from 1
}

// String is FILE:LINE:COLUMN.
func (p Place) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

type spot struct {
	file int32
	at   int32
}

type source struct {
	name  string
	text  string
	lines []int32 // where lines begin; computed on first use
}

// Paper is a paper as read: its text without commands, and the marks in it.
type Paper struct {
	Files   []string // in the order of reading
	Missing []Missed // files that the paper reads but that do not exist
	sources []source
	text    string // as a reader sees it, with the characters below between its parts
	spots   []spot // of each byte of text
	marks   []mark // in the order of the text

	pictures []Included
}

// Missed is a file that a paper reads but that does not exist.
type Missed struct {
	Place Place  `json:"place"`
	Name  string `json:"name"`
}

// Characters between parts of a text.
const (
	cellEnd  = '\x1f' // & of a table
	rowEnd   = '\x1e' // \\
	ruleMark = '\x1c' // below the header of a table
	parEnd   = '\x1d' // a blank line, the end of a float
)

type markKind byte

const (
	floatBegin markKind = iota
	floatEnd
	tableBegin // a tabular
	tableEnd
	labelMark
	refMark
	useMark // \redsi
	inputMark
	spanMark // \multicolumn: how many columns, in text
)

// mark is something at a position of the text that is not part of it.
type mark struct {
	kind markKind
	at   int // in the text
	spot spot
	text string
}

// Read reads LaTeX files and the files that they read, only from within a folder. shown precedes their names in places.
func Read(folder fs.FS, shown string, files ...string) (*Paper, error) {
	p := &Paper{}
	r := &reader{folder: folder, shown: shown, paper: p, read: map[string]bool{}}
	for _, f := range files {
		r.root, r.ended = path.Dir(f), false
		if err := r.file(f); err != nil {
			return nil, err
		}
	}
	p.text = r.out.String()
	return p, nil
}

type reader struct {
	folder fs.FS
	shown  string // folder's name in places
	root   string // folder of the main file: LaTeX's names of files are relative to it
	paper  *Paper
	read   map[string]bool
	out    strings.Builder
	bytes  int
	tikz   int  // depth of pictures, in which only coordinates are data
	data   int  // depth of coordinates in them
	depth  int  // of groups and files, bounded
	ended  bool // \end{document} was read

	graphics []string // folders of \graphicspath
}

const mostDepth = 200 // bounds how deep files nest, and groups that are read separately

var errTooDeep = errors.New("files and arguments nest too deep")

// file reads a complete file, each only once.
func (r *reader) file(name string) error {
	if r.read[name] {
		return nil
	}
	r.read[name] = true
	if len(r.paper.sources) == mostFiles {
		return fmt.Errorf("%s: the paper has more than %d files", name, mostFiles)
	}
	f, err := r.folder.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(mostBytes-r.bytes)+1))
	if err != nil {
		return err
	}
	if r.bytes += len(b); r.bytes > mostBytes {
		return fmt.Errorf("%s: the paper has more than %d MiB", name, mostBytes>>20)
	}
	if !utf8.Valid(b) {
		return fmt.Errorf("%s is not UTF-8 text", name)
	}
	text := strings.ReplaceAll(string(b), "\x00", " ")
	name = path.Join(r.shown, name)
	r.paper.sources = append(r.paper.sources, source{name: name, text: text})
	r.paper.Files = append(r.paper.Files, name)
	s := &scan{reader: r, file: int32(len(r.paper.sources) - 1), src: text}
	r.graphicsIn(text)
	from := 0
	if at := documentBegin.FindStringIndex(text); at != nil {
		from = at[1]
	}
	return s.run(from, len(text))
}

// documentBegin ends where a document begins, after its preamble, not in a comment.
var documentBegin = regexp.MustCompile(`(?m)^(?:[^\\%\n]|\\.)*?\\begin\{document\}`)

// found returns the file that LaTeX takes for a name; if there is none, the name and false.
func (r *reader) found(name string) (full string, ok bool) {
	name = strings.TrimSpace(strings.Trim(strings.TrimSpace(name), `"`))
	full = path.Join(r.root, name)
	if name == "" || !fs.ValidPath(full) || path.IsAbs(name) {
		return name, false
	}
	if path.Ext(full) == "" || !r.exists(full) && r.exists(full+".tex") {
		full += ".tex"
	}
	if r.exists(full) {
		return full, true
	}
	return name, false
}

func (r *reader) input(name string, at spot) error {
	full, ok := r.found(name)
	if !ok {
		r.paper.Missing = append(r.paper.Missing, Missed{r.paper.place(at), full})
	}
	if !ok || r.generated(full) {
		return nil
	}
	if r.depth++; r.depth > mostDepth {
		return errTooDeep
	}
	defer func() { r.depth-- }()
	return r.file(full)
}

func (r *reader) exists(name string) bool {
	info, err := fs.Stat(r.folder, name)
	return err == nil && info.Mode().IsRegular()
}

// generated reports whether redsi report --latex wrote the file: its numbers are not typed.
func (r *reader) generated(name string) bool {
	folder := path.Dir(name)
	return r.beginsNumbers(path.Join(folder, NumbersFile)) || r.beginsNumbers(path.Join(path.Dir(folder), NumbersFile))
}

func (r *reader) beginsNumbers(name string) bool {
	f, err := r.folder.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(Format)+3)
	n, _ := io.ReadFull(f, head)
	return IsNumbers(string(head[:n]))
}

func (p *Paper) place(at spot) Place {
	s := &p.sources[at.file]
	if s.lines == nil {
		s.lines = []int32{0}
		for i := range len(s.text) {
			if s.text[i] == '\n' {
				s.lines = append(s.lines, int32(i)+1)
			}
		}
	}
	line, found := slices.BinarySearch(s.lines, at.at)
	if !found {
		line--
	}
	begin := s.lines[line]
	return Place{s.name, line + 1, utf8.RuneCountInString(s.text[begin:at.at]) + 1}
}
