package general

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/isolation"
	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/internal/host/script"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// codeConfig is what steps that run a script beside the pipeline have in common. The key has the files' names and
// digests of what counts in each; the texts travel with the step.
type codeConfig struct {
	Script         string            `hcl:"script" help:"the script, a path relative to the pipeline's folder, such as src/fit.py; of a python step also a notebook, .ipynb"`
	Arguments      []string          `hcl:"arguments,optional" help:"what follows the script on its command line"`
	Program        string            `hcl:"program,optional" help:"sha256 of the interpreter's file, in hex; default: of the interpreter that is found when planned"`
	Programs       []string          `hcl:"programs,optional" help:"programs that the script starts, such as [\"samtools\"]: another version of one is another step. They are looked up in PATH"`
	ProgramDigests map[string]string `hcl:"program_digests,optional" help:"sha256 of programs by name, in hex; default: of the programs that PATH finds when planned"`
	Code           []string          `hcl:"code,optional,nokey" help:"further files that it needs, as names or patterns such as src/models/**, relative to the pipeline's folder"`
	Files          map[string]string `hcl:"files,optional,nokey" help:"texts that it needs beside files of the pipeline's folder, such as settings: file name to text; code_digests has their digests"`
	Exact          bool              `hcl:"exact,optional,nokey" help:"comments, blank lines and layout of Python count as well"`
	CodeDigests    map[string]string `hcl:"code_digests,optional" help:"filled in when loaded: what counts of each file, as sha256"`
	CodeFiles      string            `hcl:"code_files,optional,nokey" help:"filled in when loaded: the files, packed"`
	CodeFolder     string            `hcl:"code_folder,optional,nokey" help:"filled in when loaded: the pipeline's folder"`
	programConfig
}

// asIs has a program run beside its code and inputs, as outside of a step: files, inputs and outputs have their
// names in the working folder itself.
type asIs struct {
	codeConfig
	sources []string // folders that Python looks through, in front of others
}

// maxCode bounds the bytes of a step's code: it is part of the pipeline.
const maxCode = 16 << 20

var codeOutputs = []step.Output{
	{Name: "out", Type: "files", Tree: true, Help: "the files of outputs", Why: "unless compare says otherwise"},
	{Name: "stdout", Type: "file", Help: "what it printed", Why: "unless compare says otherwise"},
}

func (c codeConfig) command(argv []string, sources ...string) commandConfig {
	return commandConfig{
		Argv: argv, Program: c.Program, Programs: c.Programs, ProgramDigests: c.ProgramDigests,
		programConfig: c.programConfig, code: &asIs{c, sources},
	}
}

// ofCode completes a kind that runs a program beside its code by what all such kinds have in common.
func ofCode[C any](k step.Kind[C], of func(*C) (*codeConfig, commandConfig)) step.Kind[C] {
	program := func(c C) commandConfig { _, run := of(&c); return run }
	k.Class = "script"
	k.Unkeyed = func(c C) []string { return program(c).unkeyed() }
	k.Leaves = func(c C) map[string][]string { return map[string][]string{"out": program(c).Outputs} }
	k.Resolve = func(ctx context.Context, env step.Sources, c C) (C, error) {
		code, run := of(&c)
		r, err := resolveCommand(ctx, env, run)
		code.Program, code.ProgramDigests, code.programConfig = r.Program, r.ProgramDigests, r.programConfig
		return c, err
	}
	k.Run = func(ctx context.Context, x *step.IO, c C) error { return runCommand(ctx, x, program(c)) }
	k.Stage = func(ctx context.Context, x *step.IO, c C, dir string) (step.Program, error) {
		return stageProgram(ctx, x, program(c), dir)
	}
	k.Alike = func(c C) map[string]step.Alike { return program(c).alike() }
	return k
}

// gather reads a step's code, once for all steps with the same code: the files of code, and what find returns for the
// script's text and more, the texts of these. kind and sources are what find depends on.
func (c *codeConfig) gather(files step.CodeFiles, kind string, sources []string, find func(text string, more map[string]string, read python.Read) (map[string]string, error)) error {
	if len(c.CodeDigests) > 0 || c.CodeFiles != "" || c.CodeFolder != "" {
		return step.Problem{Path: "code_digests", Detail: "and code_files and code_folder are filled in when the pipeline is loaded: leave them out"}
	}
	type code struct {
		digests map[string]string
		packed  string
	}
	hashed, err := files.Once(fmt.Sprintf("%s %q %q %q %q %t", kind, sources, c.Script, c.Code, c.Files, c.Exact), func() (any, error) {
		read := func(name string) (string, bool, error) { return readCode(files, name) }
		text, ok, err := read(c.Script)
		if err == nil && !ok {
			err = errors.New("there is no such file")
		}
		if err != nil {
			return nil, step.Problem{Path: "script", Detail: c.Script + ": " + err.Error()}
		}
		texts, err := c.further(files)
		if err != nil {
			return nil, err
		}
		found, err := find(text, texts, read)
		if err != nil {
			return nil, step.Problem{Path: "script", Detail: err.Error()}
		}
		maps.Copy(texts, found)
		for name, text := range c.Files {
			if _, twice := texts[name]; twice {
				return nil, step.Problem{Path: "files", Detail: fmt.Sprintf("%q is a file of the step's code", name)}
			}
			texts[name] = text
		}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if script.Returns(name, texts[name], false) {
				return nil, step.Problem{Path: "script", Detail: name + ": " + carriageReturns}
			}
		}
		digests, err := c.digested(texts)
		if err != nil {
			return nil, step.Problem{Path: "code", Detail: err.Error()}
		}
		packed, err := pack(texts)
		return code{digests, packed}, err
	})
	if err != nil {
		return err
	}
	of := hashed.(code)
	c.CodeDigests, c.CodeFiles, c.CodeFolder = of.digests, of.packed, files.Folder()
	return nil
}

func readCode(files step.CodeFiles, name string) (string, bool, error) {
	b, ok, err := files.Read(name)
	if err == nil && ok && !utf8.Valid(b) {
		err = errors.New("is not UTF-8 text: save it as UTF-8; data and programs reach a step by inputs, from a source block")
	}
	return string(b), ok, err
}

// further reads the files that code names.
func (c codeConfig) further(files step.CodeFiles) (map[string]string, error) {
	texts := map[string]string{}
	for i, pattern := range c.Code {
		at := fmt.Sprintf("code[%d]", i)
		names := []string{pattern} // read as the script is, if it is a name
		if err := command.CheckName(pattern); err != nil || strings.ContainsAny(pattern, "*?[{") {
			if names, err = files.List(pattern); err != nil {
				return nil, step.Problem{Path: at, Detail: err.Error()}
			}
		}
		found := false
		for _, name := range names {
			if strings.HasSuffix(name, ".pyc") {
				continue
			}
			text, ok, err := readCode(files, name)
			if err != nil {
				return nil, step.Problem{Path: at, Detail: name + ": " + err.Error()}
			}
			if found = found || ok; ok {
				texts[name] = text
			}
		}
		if !found {
			return nil, step.Problem{Path: at, Detail: fmt.Sprintf("no file beside the pipeline matches %q; the files of a folder are %q", pattern, path.Join(pattern, "**"))}
		}
	}
	return texts, nil
}

func (c codeConfig) digested(texts map[string]string) (map[string]string, error) {
	digests := map[string]string{}
	total := 0
	for name, text := range texts {
		if total += len(text); total > maxCode {
			return nil, fmt.Errorf("the files have more than %d MiB: what is data reaches a step by inputs, from a source block", maxCode>>20)
		}
		if err := artifacts.CheckFileName(name); err != nil {
			return nil, err
		}
		digests[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(c.counted(name, text))))
	}
	return digests, nil
}

// counted returns what counts in a file: all of it but, without exact, the comments and layout of Python.
func (c codeConfig) counted(name, text string) string {
	if n, err := python.ParseNotebook(text); err == nil && python.IsNotebook(name) {
		if c.Exact {
			return n.Exact()
		}
		return n.Normal()
	}
	if c.Exact || path.Ext(name) != ".py" || python.Encoded(text) {
		return text
	}
	normal, err := python.Normal(text)
	if err != nil {
		return text // a file of code that perhaps nothing imports
	}
	return normal
}

func pack(texts map[string]string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	err := errors.Join(json.NewEncoder(w).Encode(texts), w.Close())
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}

// unpack fills in the files of a program that runs beside its code.
func (c *commandConfig) unpack() error {
	if c.code == nil {
		return nil
	}
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(c.code.CodeFiles)))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(r, 8*maxCode)).Decode(&c.Files)
	}
	if err != nil {
		return step.Permanent(fmt.Errorf("the code of the step cannot be read: %w; plan and run again", err))
	}
	return nil
}

func checkCode(c commandConfig) error {
	var ps step.Problems
	inout.CheckError(&ps, "script", command.CheckName(c.code.Script))
	for i, folder := range c.code.sources {
		if folder != "." {
			inout.CheckError(&ps, fmt.Sprintf("sources[%d]", i), command.CheckName(folder))
		}
	}
	own, _ := errors.AsType[step.Problems](checkCommand(c))
	ps = append(ps, lists.Filter(own, func(p step.Problem) bool { return !strings.HasPrefix(p.Path, "argv") })...)
	for i, arg := range c.code.Arguments {
		inout.Check(&ps, fmt.Sprintf("arguments[%d]", i), !strings.ContainsRune(arg, 0), "has a NUL byte, which cannot be passed to a program")
	}
	code := slices.Sorted(maps.Keys(c.code.CodeDigests))
	inputs := append(slices.Sorted(maps.Keys(c.Inputs)), slices.Sorted(maps.Keys(c.Lists))...)
	given := append(slices.Clone(inputs), code...)
	checkFolders(&ps, "inputs", given)
	for at, names := range map[string][]string{"inputs": inputs, "outputs": c.Outputs, "code": code} {
		for _, name := range names {
			top, _, _ := strings.Cut(name, "/")
			own := top == "tmp" || top == step.OwnFolder && at != "code"
			inout.Check(&ps, at, !own, "%q is in the folder %s, which is the step's own", name, top)
		}
	}
	for _, name := range inputs {
		inout.Check(&ps, "inputs", !slices.Contains(code, name), "%q is a file of the step's code", name)
	}
	for _, out := range c.Outputs {
		for _, name := range given {
			switch folder := strings.TrimSuffix(out, "/"); {
			case name == folder:
				inout.Add(&ps, "outputs", "%q is also what the step is given: what it writes needs a name of its own", out)
			case strings.HasPrefix(name, folder+"/"):
				inout.Add(&ps, "outputs", "%q has %q in it, which the step is given: let it write to a folder of its own, or name the files", out, name)
			case strings.HasPrefix(out, name+"/"):
				inout.Add(&ps, "outputs", "%q is in the input %q, which may not be written", out, name)
			}
		}
	}
	return ps.Err()
}

// searched returns PYTHONPATH for a working folder: the step's sources, then env's.
func (c commandConfig) searched(dir string) string {
	var list []string
	if c.code != nil {
		list = lists.Map(c.code.sources, func(folder string) string { return path.Join(dir, folder) })
	}
	if given := c.Env["PYTHONPATH"]; given != "" {
		list = append(list, given)
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// beside reports whether a file or, by mode, a folder of that name is beside the pipeline on this machine and the
// step does not have it. Hidden folders do not belong to the study: state, environments, git.
func (c commandConfig) beside(name string, mode fs.FileMode) bool {
	_, own := c.Inputs[name]
	if c.code.CodeFolder == "" || own || c.has(name) || command.CheckName(name) != nil || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return false
	}
	info, err := os.Stat(filepath.Join(c.code.CodeFolder, filepath.FromSlash(name)))
	return err == nil && info.Mode().Type() == mode
}

var (
	noModule = regexp.MustCompile(`No module named '?([\w.]+)`)
	pathLike = regexp.MustCompile(`[\w./+~-]+`)
)

// mostStrays bounds the files that an error names.
const mostStrays = 5

// missed adds to a program's failure which files beside the pipeline it lacked: modules, and paths in its last words.
func (c commandConfig) missed(err error, dir string) error {
	exit, ok := errors.AsType[*command.ExitError](err)
	if !ok {
		return err
	}
	if m := noModule.FindStringSubmatch(exit.Tail); m != nil {
		if hint := c.moduleBeside(m[1]); hint != "" {
			return fmt.Errorf("%w\n%s", err, hint)
		}
	}
	var names []string
	for _, word := range pathLike.FindAllString(exit.Tail, -1) {
		word = strings.TrimPrefix(strings.TrimPrefix(strings.TrimRight(word, "."), dir+"/"), isolation.Folder+"/")
		for _, name := range []string{path.Clean(word), path.Join(path.Dir(c.code.Script), word)} {
			if _, gone := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); gone != nil && !path.IsAbs(word) && c.beside(name, 0) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; the step lacks files that are beside the pipeline: write code = [%s] or, of data, give it in inputs by a source block", err, quotedAll(names))
}

func quotedAll(names []string) string {
	return `"` + strings.Join(names[:min(len(names), mostStrays)], `", "`) + `"`
}

// moduleBeside says how a step gets a module that stands beside the pipeline.
func (c commandConfig) moduleBeside(module string) string {
	at := strings.ReplaceAll(module, ".", "/")
	for _, folder := range append([]string{path.Dir(c.code.Script)}, c.code.sources...) {
		name := path.Join(folder, at)
		switch {
		case c.beside(name+".py", 0):
			name += ".py"
		case c.beside(name, fs.ModeDir):
			name += "/**"
		default:
			continue
		}
		return fmt.Sprintf("%s stands beside the pipeline, but no import statement leads to it: write code = [%q]", name, name)
	}
	top, _, _ := strings.Cut(at, "/")
	for _, folder := range []string{".", "src", "lib"} {
		if name := path.Join(folder, top); c.beside(name+".py", 0) || c.beside(name, fs.ModeDir) {
			return fmt.Sprintf("%s stands beside the pipeline, where Python does not look for it: write sources = [%q]", name, folder)
		}
	}
	return ""
}

// opened returns the files that a program read in the pipeline's folder itself, and that the key does not have.
func (c commandConfig) opened(found isolation.Findings) (names []string) {
	if c.code == nil || c.code.CodeFolder == "" {
		return nil
	}
	real, _ := filepath.EvalSymlinks(c.code.CodeFolder)
	for _, f := range found.List {
		for _, folder := range []string{c.code.CodeFolder, real} {
			rel, ok := strings.CutPrefix(f.Where, folder+string(filepath.Separator))
			name := filepath.ToSlash(rel)
			if ok && (f.What == "read" || f.What == "run") && !f.Library() && c.beside(name, 0) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// strays returns the files that a program left beside its outputs, without hidden ones.
func (c commandConfig) strays(dir string, outputs []string) (names []string) {
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error { // for messages only
		rel, _ := filepath.Rel(dir, p)
		name := filepath.ToSlash(rel)
		if err != nil || name == "." {
			return nil
		}
		_, input := c.Inputs[name]
		_, list := c.Lists[name]
		hidden := strings.HasPrefix(d.Name(), ".") || d.Name() == "__pycache__"
		switch {
		case d.IsDir() && (input || list || hidden || name == "tmp"):
			return fs.SkipDir
		case !d.IsDir() && !input && !hidden && !c.has(name) && !slices.Contains(outputs, name):
			names = append(names, name)
		}
		return nil
	})
	return names
}
