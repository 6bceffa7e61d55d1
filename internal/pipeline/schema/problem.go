package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// Problems reports what a kind found wrong with a configuration, but where an error has been reported.
func (r *Reader) Problems(err error) {
	all := flatten(err)
	for _, p := range all {
		path := ParsePath(p.Path)
		if _, names := r.attr(path); names != nil && !r.covered(path) {
			last := fmt.Sprint(path[len(path)-1])
			within := path[:len(path)-1]
			rng, _ := r.Find(path, true)
			r.Fail(path, rng, "Unknown attribute", fmt.Sprintf("%s has no attribute %q. %s", Show(within), last, syntax.Suggest(last, names, "attribute")))
			r.Typos.add(r.Locate(within), syntax.Nearest(last, names))
		}
	}
	for _, p := range all {
		path := ParsePath(p.Path)
		if r.covered(path) {
			continue
		}
		rng, given := r.Find(path, false)
		if a, _ := r.attr(path); a != nil && !a.Optional && !given {
			if !r.Typos.has(rng, a.Name) {
				r.Fail(path, rng, "Missing attribute", r.missing(path, a))
			}
			continue
		}
		detail := strings.TrimRight(p.Error(), ".")
		if !strings.HasSuffix(detail, "?") {
			detail += "."
		}
		r.Fail(path, rng, "Value not allowed", detail+r.hint(path, rng, p.Detail))
	}
}

func (r *Reader) missing(path []any, a *step.Attr) string {
	owner := r.Owner
	if len(path) > 1 {
		owner = Show(path[:len(path)-1])
	}
	return fmt.Sprintf("%s needs %s = … (%s): %s", owner, a.Name, a.Type, strings.TrimRight(a.Help, ".")+".")
}

var fileCall = regexp.MustCompile(`^file(?:base64)?\("([^"$%]+)"\)$`)

// hint says what to write for a wrong value that people often give: a file by name or contents, a command as one text.
func (r *Reader) hint(path []any, rng hcl.Range, detail string) string {
	given, isText := strings.CutPrefix(detail[strings.Index(detail, " got ")+1:], "got the string ")
	text, err := strconv.Unquote(given)
	isText = isText && err == nil && len(text) <= syntax.Shown && !strings.ContainsAny(text, "\n\"")
	switch {
	case strings.HasPrefix(detail, "want artifact"):
		name := "PATH"
		if src := r.Diags.Source(rng.Filename); rng.CanSliceBytes(src) {
			if m := fileCall.FindSubmatch(rng.SliceBytes(src)); m != nil {
				name = string(m[1])
			} else if isText && !strings.Contains(text, " ") {
				name = text
			}
		}
		const is = " An artifact is the output of a step, written step.KIND.NAME.OUTPUT."
		if given == "" || err != nil {
			return is
		}
		return fmt.Sprintf(is+" A local file becomes one by a step: step \"download\" \"NAME\" { urls = [%q] }, whose output is step.download.NAME.files.", name)
	case strings.HasSuffix(detail, "got an artifact"):
		return " " + language.ArtifactIs
	case strings.HasPrefix(detail, "want list of string, got the string "):
		if !isText {
			text = "…"
		}
		if name := Show(path); name == "argv" {
			return fmt.Sprintf(" It is the program and its arguments, one by one; for a shell, write argv = [\"sh\", \"-c\", %q].", text)
		}
		return fmt.Sprintf(" A list is written in brackets: %s = [%q].", Show(path), text)
	}
	return ""
}

// Reader reads what a block says, as an instance of it sees values.
type Reader struct {
	language.Scope
	Block   *hclsyntax.Block
	Spec    *step.Spec
	Owner   string // the block in sentences about its attributes
	Address string // the instance in sentences
	Typos   Typos
	broken  [][]any // paths of values that are wrong; reported

	Outputs map[step.Ref]step.Output // artifacts among the values
	Read    map[string]*step.Spec    // the steps that they are of
}

// broken stands in a tree for a value that is wrong. No type takes it, so a kind's own checks never see it.
type broken struct{}

// Spoil remembers where a value is wrong, or not known yet.
func (r *Reader) Spoil(at []any) broken {
	r.broken = append(r.broken, at)
	return broken{}
}

// Failed reports whether some value is.
func (r *Reader) Failed() bool { return len(r.broken) > 0 }

// Fail reports a wrong value and remembers where it is.
func (r *Reader) Fail(at []any, rng hcl.Range, summary, detail string) broken {
	about := detail
	if len(at) > 0 {
		about = pattern(at)
	}
	r.Diags.Add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &rng}, r.Instance, about)
	return r.Spoil(at)
}

// covered reports whether a value on the way to a path, or below it, is known to be wrong.
func (r *Reader) covered(path []any) bool {
	return slices.ContainsFunc(r.broken, func(b []any) bool {
		n := min(len(b), len(path))
		return n > 0 && slices.Equal(b[:n], path[:n])
	})
}
