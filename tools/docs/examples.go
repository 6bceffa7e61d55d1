package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var verbLine = regexp.MustCompile(`^  ([a-z][a-z-]*) +\S`)

// verbs returns the commands that a help text lists, in sections with a title.
func verbs(help string) []string {
	var all []string
	for _, section := range strings.Split(help, "\n\n") {
		title, list, _ := strings.Cut(section, "\n")
		if !strings.HasSuffix(title, ":") || slices.Contains([]string{"Usage:", "Examples:"}, title) {
			continue
		}
		for _, line := range strings.Split(list, "\n") {
			if m := verbLine.FindStringSubmatch(line); m != nil && m[1] != "help" {
				all = append(all, m[1])
			}
		}
	}
	return all
}

// exampleOf returns the examples of a help text.
func exampleOf(help string) []string {
	_, rest, ok := strings.Cut(help, "\nExamples:\n")
	if !ok {
		return nil
	}
	text, _, _ := strings.Cut(rest, "\n\n")
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// Examples asks a program for the examples of its verbs and their verbs. It fails if a Special has no example.
func Examples(ctx context.Context, s *Shell, program string, special []Special) ([]Block, error) {
	used := map[string]bool{}
	var blocks []Block
	var visit func(path string) error
	visit = func(path string) error {
		help, exit, err := s.Run(ctx, path+" --help", "")
		if err != nil || exit != 0 {
			return fmt.Errorf("%s --help: exit %d, %v: %s", path, exit, err, help)
		}
		shown, _ := commands(exampleOf(help), 1, false) // without output nothing is wrong
		for _, c := range shown {
			b := Block{File: path + " --help", Commands: []Command{c}}
			for _, k := range special {
				if strings.HasPrefix(strings.TrimSpace(c.Text), k.Prefix) {
					used[k.Prefix] = true
					if err := b.marks(k.Marks); err != nil {
						return err
					}
					break
				}
			}
			blocks = append(blocks, b)
		}
		for _, verb := range verbs(help) {
			if err := visit(path + " " + verb); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(program); err != nil {
		return nil, err
	}
	for _, k := range special {
		if !used[k.Prefix] {
			return nil, fmt.Errorf("examples.txt: no example begins with %q", k.Prefix)
		}
	}
	return blocks, nil
}

// Special has the marks, as in the comment before a block, of the examples that begin with Prefix.
type Special struct{ Prefix, Marks string }

// Specials reads lines "PREFIX | MARKS"; # begins a comment.
func Specials(text string) ([]Special, error) {
	var all []Special
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		prefix, marks, ok := strings.Cut(line, " | ")
		if !ok {
			return nil, fmt.Errorf("examples.txt:%d: want PREFIX | MARKS", i+1)
		}
		all = append(all, Special{strings.TrimSpace(prefix), strings.TrimSpace(marks)})
	}
	return all, nil
}
