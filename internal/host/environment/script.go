package environment

import (
	"regexp"
	"strings"
)

// ScriptOf returns the Python script whose lock uv lock --script wrote: its name without ".lock"; "" for other locks.
func ScriptOf(lock string) string {
	if script, ok := strings.CutSuffix(lock, ".lock"); ok && strings.HasSuffix(script, ".py") {
		return script
	}
	return ""
}

// metadata is the block of PEP 723 that says what a script needs.
var metadata = regexp.MustCompile(`(?m)^# /// script$\n((?:^#(?: .*)?$\n)+)^# ///$`)

// Add adds the text of a file with which the recipe's lock is read: of a script only the block that says what it needs,
// so that other edits change no recipe.
func (r *Recipe) Add(name, text string) {
	if name == ScriptOf(r.Lock) {
		text = metadata.FindString(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	r.Files[name] = text
}

// scriptProject returns the metadata of a script in the form of a pyproject.toml.
func scriptProject(text string) string {
	var b strings.Builder
	b.WriteString("[project]\n")
	if parts := metadata.FindStringSubmatch(text); parts != nil {
		for line := range strings.Lines(parts[1]) {
			b.WriteString(strings.TrimPrefix(line[1:], " "))
		}
	}
	return b.String()
}
