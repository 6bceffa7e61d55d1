package environment

import (
	"regexp"
	"strings"
)

// scriptOf is the Python script that a lock is of, made by uv lock --script: the lock's
// name without ".lock". It is "" of another lock.
func scriptOf(lock string) string {
	if script, ok := strings.CutSuffix(lock, ".lock"); ok && strings.HasSuffix(script, ".py") {
		return script
	}
	return ""
}

// metadata is the block of PEP 723 that says what a script needs.
var metadata = regexp.MustCompile(`(?m)^# /// script$\n((?:^#(?: .*)?$\n)+)^# ///$`)

// Add gives a recipe the text of a file that its lock is read with: of a script, what says what it
// needs, so that other edits make no other recipe.
func (r *Recipe) Add(name, text string) {
	if name == scriptOf(r.Lock) {
		text = metadata.FindString(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	r.Files[name] = text
}

// scriptProject is the metadata of a script as a pyproject.toml has it.
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

// Script is the name of the script whose lock a recipe has; "" of another lock.
func (r Recipe) Script() string { return scriptOf(r.Lock) }
