package general

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/python"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// codeConfig is what steps that run files beside the pipeline have in common. The key has
// the names of the files and digests of what counts of each; the texts travel with the step.
type codeConfig struct {
	Code        []string          `hcl:"code,optional,nokey" help:"further files that it needs, as names or patterns such as src/models/**, relative to the pipeline's folder"`
	Exact       bool              `hcl:"exact,optional,nokey" help:"comments, blank lines and layout of Python count as well"`
	CodeDigests map[string]string `hcl:"code_digests,optional" help:"filled in when loaded: what counts of each file, as sha256"`
	CodeFiles   string            `hcl:"code_files,optional,nokey" help:"filled in when loaded: the files, packed"`
	CodeFolder  string            `hcl:"code_folder,optional,nokey" help:"filled in when loaded: the pipeline's folder"`
}

// asIs makes a program run beside its code and inputs, as it does outside of a step: files,
// inputs and outputs have their names in the working folder itself.
type asIs struct {
	codeConfig
	script    string
	arguments []string
	sources   []string // folders that Python looks through, in front of others
}

// maxCode bounds the bytes of a step's code: it is part of the pipeline.
const maxCode = 16 << 20

// gathered is the code of a step.
type gathered struct {
	digests map[string]string
	packed  string
}

// gather reads the code of a step once for all that have the same: what find returns, and
// the files of code.
func (c codeConfig) gather(files step.CodeFiles, id any, find func(python.Read) (map[string]string, error)) (codeConfig, error) {
	if len(c.CodeDigests) > 0 || c.CodeFiles != "" || c.CodeFolder != "" {
		return c, step.Problem{Path: "code_digests", Detail: "and code_files and code_folder are filled in when the pipeline is loaded: leave them out"}
	}
	name, err := json.Marshal([]any{id, c.Code, c.Exact})
	if err != nil {
		return c, err
	}
	made, err := files.Once(string(name), func() (any, error) {
		texts, err := find(func(name string) (string, bool, error) { return readCode(files, name) })
		if err != nil {
			return nil, step.Problem{Path: "script", Detail: err.Error()}
		}
		if err := c.further(files, texts); err != nil {
			return nil, err
		}
		return c.digested(texts)
	})
	if err != nil {
		return c, err
	}
	g := made.(*gathered)
	c.CodeDigests, c.CodeFiles, c.CodeFolder = g.digests, g.packed, files.Folder()
	return c, nil
}

func readCode(files step.CodeFiles, name string) (string, bool, error) {
	b, ok, err := files.Read(name)
	if err == nil && ok && !utf8.Valid(b) {
		err = errors.New("is not UTF-8 text: save it as UTF-8; data and programs reach a step by inputs, from a source block")
	}
	return string(b), ok, err
}

// further adds the files that code names, and what those of Python import.
func (c codeConfig) further(files step.CodeFiles, texts map[string]string) error {
	for i, pattern := range c.Code {
		at := fmt.Sprintf("code[%d]", i)
		names, err := []string{pattern}, command.CheckName(pattern)
		if err != nil || strings.ContainsAny(pattern, "*?[{") {
			names, err = files.List(pattern)
		}
		if err != nil {
			return step.Problem{Path: at, Detail: err.Error()}
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return strings.HasSuffix(name, ".pyc") || slices.Contains(strings.Split(name, "/"), "__pycache__")
		})
		if len(names) == 0 {
			return step.Problem{Path: at, Detail: fmt.Sprintf("no file beside the pipeline matches %q", pattern)}
		}
		for _, name := range names {
			text, ok, err := readCode(files, name)
			if err == nil && !ok {
				return step.Problem{Path: at, Detail: fmt.Sprintf("there is no file %s beside the pipeline; a folder is %s", name, path.Join(name, "**"))}
			}
			if err != nil {
				return step.Problem{Path: at, Detail: name + ": " + err.Error()}
			}
			texts[name] = text
		}
	}
	return nil
}

// digested finds out what counts of each file.
func (c codeConfig) digested(texts map[string]string) (*gathered, error) {
	g := &gathered{digests: map[string]string{}}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if total += len(texts[name]); total > maxCode {
			return nil, step.Problem{Path: "code", Detail: fmt.Sprintf("the files have more than %d MiB: what is data reaches a step by inputs, from a source block", maxCode>>20)}
		}
		if err := artifacts.CheckFileName(name); err != nil {
			return nil, step.Problem{Path: "code", Detail: err.Error()}
		}
		sum := sha256.Sum256([]byte(c.counted(name, texts[name])))
		g.digests[name] = hex.EncodeToString(sum[:])
	}
	b, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err == nil {
		_, err = w.Write(b)
		err = errors.Join(err, w.Close())
	}
	g.packed = base64.StdEncoding.EncodeToString(packed.Bytes())
	return g, err
}

// counted is what counts of a file: of Python without comments and layout, of others all.
func (c codeConfig) counted(name, text string) string {
	if n, err := python.ParseNotebook(text); err == nil && python.IsNotebook(name) {
		if c.Exact {
			return n.Exact()
		}
		return n.Normal()
	}
	if c.Exact || path.Ext(name) != ".py" || python.Coding(text) != "" {
		return text
	}
	normal, err := python.Normal(text)
	if err != nil {
		return text // a file of code, which nothing may import
	}
	return normal
}

// unpacked is the program with the texts of its files.
func (c commandConfig) unpacked() (commandConfig, error) {
	b, err := base64.StdEncoding.DecodeString(c.code.CodeFiles)
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b)), 8*maxCode))
	}
	if err == nil {
		err = json.Unmarshal(b, &c.Files)
	}
	if err == nil && len(c.Files) != len(c.code.CodeDigests) {
		err = errors.New("it does not have all files")
	}
	if err != nil {
		err = step.Permanent(fmt.Errorf("the code of the step cannot be read: %w; plan and run again", err))
	}
	return c, err
}

// checkCode reports what is wrong with a program that runs as it is.
func checkCode(c commandConfig) error {
	var ps step.Problems
	bad := inout.Adding(&ps)
	if c.code.script == "" {
		bad("script", "is empty; name a file beside the pipeline")
		return ps.Err()
	}
	inout.CheckError(&ps, "script", command.CheckName(c.code.script))
	for i, folder := range c.code.sources {
		if folder != "." {
			inout.CheckError(&ps, fmt.Sprintf("sources[%d]", i), command.CheckName(folder))
		}
	}
	var own step.Problems
	if err := checkCommand(c); errors.As(err, &own) {
		for _, p := range own {
			if !strings.HasPrefix(p.Path, "argv") {
				ps = append(ps, p)
			}
		}
	}
	for i, arg := range c.code.arguments {
		inout.Check(&ps, fmt.Sprintf("arguments[%d]", i), !strings.ContainsRune(arg, 0), "has a NUL byte, which cannot be passed to a program")
	}
	code := slices.Sorted(maps.Keys(c.code.CodeDigests))
	inputs := append(slices.Sorted(maps.Keys(c.Inputs)), slices.Sorted(maps.Keys(c.Lists))...)
	checkFolders(&ps, "inputs", append(slices.Clone(inputs), code...))
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
		for _, name := range append(slices.Clone(inputs), code...) {
			within := func(a, b string) bool { return a+"/" == b || strings.HasPrefix(a, strings.TrimSuffix(b, "/")+"/") }
			switch {
			case name == out || name+"/" == out:
				bad("outputs", "%q is also what the step is given: what it writes needs a name of its own", out)
			case within(name, out):
				bad("outputs", "%q has %q in it, which the step is given: let it write to a folder of its own, or name the files", out, name)
			case within(out, name) && !slices.Contains(code, name):
				bad("outputs", "%q is in the input %q, which may not be written", out, name)
			}
		}
	}
	return ps.Err()
}
