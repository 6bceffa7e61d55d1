package latex

import (
	"regexp"
	"strings"
)

var (
	fileMark = regexp.MustCompile(`(?m)^%% file: (\S+)\n`)
	inputs   = regexp.MustCompile(`\\input\{([^}]*)\}`)
	comments = regexp.MustCompile(`(?m)(^|[^\\])%.*$`)
)

// Expand takes apart a source of several files, each below a line "%% file: NAME", and puts them where \input reads
// them. Files that nothing reads follow at the end; comments are dropped.
func Expand(src string) string {
	marks := fileMark.FindAllStringSubmatchIndex(src, -1)
	if len(marks) == 0 {
		return comments.ReplaceAllString(src, "$1")
	}
	files, read := map[string]string{}, map[string]bool{}
	var order []string
	for i, m := range marks {
		end := len(src)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		name := strings.TrimSuffix(src[m[2]:m[3]], ".tex")
		order = append(order, name)
		files[name] = comments.ReplaceAllString(src[m[1]:end], "$1")
	}
	var expand func(name string) string
	expand = func(name string) string {
		read[name] = true // before its own inputs: a circle ends here
		return inputs.ReplaceAllStringFunc(files[name], func(m string) string {
			inner := strings.TrimSuffix(inputs.FindStringSubmatch(m)[1], ".tex")
			if _, ok := files[inner]; !ok || read[inner] {
				return ""
			}
			return expand(inner)
		})
	}
	var b strings.Builder
	for _, name := range order {
		if !read[name] {
			b.WriteString(expand(name))
		}
	}
	return b.String()
}
