package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// flatten lists the problems in an error, of whatever make it is.
func flatten(err error) step.Problems {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.Concat(lists.Map(joined.Unwrap(), flatten)...)
	}
	if many, ok := errors.AsType[step.Problems](err); ok {
		return many
	}
	if one, ok := errors.AsType[step.Problem](err); ok {
		return step.Problems{one}
	}
	return step.Problems{{Detail: err.Error()}}
}

// Problems reports what a kind found wrong with a configuration, except where an error has been reported.
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
			owner := r.Owner
			if len(path) > 1 {
				owner = Show(path[:len(path)-1])
			}
			if !r.Typos.has(rng, a.Name) {
				r.Fail(path, rng, "Missing attribute", fmt.Sprintf("%s needs %s = … (%s): %s.", owner, a.Name, a.Type, strings.TrimRight(a.Help, ".")))
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

var fileCall = regexp.MustCompile(`^file(?:base64)?\("([^"$%]+)"\)$`)

// hint says what to write for a wrong value that people often give: a file by name or contents, a command as one text.
func (r *Reader) hint(path []any, rng hcl.Range, detail string) string {
	given, isText := strings.CutPrefix(detail[strings.Index(detail, " got ")+1:], "got the string ")
	text, err := strconv.Unquote(given)
	isText = isText && err == nil && len(text) <= syntax.Shown && !strings.ContainsAny(text, "\n\"")
	switch {
	case strings.HasPrefix(detail, "want artifact"):
		name := "PATH"
		if src := r.Diags.Sources[rng.Filename]; rng.CanSliceBytes(src) {
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
