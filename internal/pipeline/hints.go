package pipeline

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

var fileCall = regexp.MustCompile(`^file(?:base64)?\("([^"$%]+)"\)$`)

// hint says what to write instead of a value of the wrong type, where people mean the
// same with it: a file by its name or contents, a command line as one text.
func (c *config) hint(path []any, rng hcl.Range, detail string) string {
	given, isText := strings.CutPrefix(detail[strings.Index(detail, " got ")+1:], "got the string ")
	text, err := strconv.Unquote(given)
	isText = isText && err == nil && len(text) <= syntax.Shown && !strings.ContainsAny(text, "\n\"")
	switch {
	case strings.HasPrefix(detail, "want artifact"):
		name := "PATH"
		if src := c.l.Diags.Source(rng.Filename); rng.CanSliceBytes(src) {
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
		if name := show(path); name == "argv" {
			return fmt.Sprintf(" It is the program and its arguments, one by one; for a shell, write argv = [\"sh\", \"-c\", %q].", text)
		}
		return fmt.Sprintf(" A list is written in brackets: %s = [%q].", show(path), text)
	}
	return ""
}
