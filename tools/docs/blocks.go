package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Command is one command line of the documentation.
type Command struct {
	Line  int // in its file, from 1
	Text  string
	Shown []string // what it prints, if Check
	Check bool     // output is shown
}

// Block is a fenced block of commands, and what its comment says of it.
type Block struct {
	File     string
	Commands []Command
	NotRun   string // why; "" if it is
	Long     bool
	In       string // folder, relative to the copy
	Exit     int
	Varies   *regexp.Regexp
	Until    string
}

// marks reads what the comment before a block says.
func (b *Block) marks(comment string) error {
	for _, mark := range strings.Split(comment, ";") {
		mark = strings.TrimSpace(mark)
		word, rest, _ := strings.Cut(mark, " ")
		var err error
		switch {
		case strings.HasPrefix(mark, "not run: "):
			b.NotRun = strings.TrimPrefix(mark, "not run: ")
		case mark == "long":
			b.Long = true
		case word == "in" && rest != "":
			b.In = rest
		case word == "exit":
			b.Exit, err = strconv.Atoi(rest)
		case word == "varies" && rest != "":
			b.Varies, err = regexp.Compile(rest)
		case word == "until" && rest != "":
			b.Until = rest
		default:
			err = fmt.Errorf("%q is not a mark of a block", mark)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	fence   = regexp.MustCompile("^(```+)([a-z]*)\\s*$")
	comment = regexp.MustCompile(`^<!-- docs: (.*) -->$`)
)

// Blocks are the blocks of commands of a Markdown file, in order. Every block that looks
// like commands must be one: a fence without a language whose first line begins with "$ "
// is an error.
func Blocks(file, text string) ([]Block, error) {
	var blocks []Block
	said, saidAt := "", 0
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if m := comment.FindStringSubmatch(lines[i]); m != nil {
			if said != "" {
				return nil, fmt.Errorf("%s:%d: no block follows this comment", file, saidAt)
			}
			said, saidAt = m[1], i+1
			continue
		}
		m := fence.FindStringSubmatch(lines[i])
		if m == nil {
			if said != "" && strings.TrimSpace(lines[i]) != "" {
				return nil, fmt.Errorf("%s:%d: no block follows this comment", file, saidAt)
			}
			continue
		}
		begin := i + 1
		for i++; i < len(lines) && strings.TrimRight(lines[i], " ") != m[1]; i++ {
		}
		if i == len(lines) {
			return nil, fmt.Errorf("%s:%d: this block does not end", file, begin)
		}
		b := Block{File: file}
		switch m[2] {
		case "sh":
			b.Commands = script(lines[begin:i], begin+1)
		case "console":
			var err error
			if b.Commands, err = console(lines[begin:i], begin+1); err != nil {
				return nil, fmt.Errorf("%s:%w", file, err)
			}
		case "":
			if strings.HasPrefix(lines[begin], "$ ") {
				return nil, fmt.Errorf("%s:%d: a block of commands with output is ```console", file, begin)
			}
		}
		if said != "" {
			if len(b.Commands) == 0 {
				return nil, fmt.Errorf("%s:%d: the block after this comment has no commands", file, saidAt)
			}
			if err := b.marks(said); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, saidAt, err)
			}
			said = ""
		}
		if len(b.Commands) > 0 {
			blocks = append(blocks, b)
		}
	}
	if said != "" {
		return nil, fmt.Errorf("%s:%d: no block follows this comment", file, saidAt)
	}
	return blocks, nil
}

// script reads a block of commands without output.
func script(lines []string, at int) []Command {
	var all []Command
	for i := 0; i < len(lines); i++ {
		if s := strings.TrimSpace(lines[i]); s == "" || s[0] == '#' {
			continue
		}
		c := Command{Line: at + i, Text: lines[i]}
		for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
			i++
			c.Text += "\n" + lines[i]
		}
		all = append(all, c)
	}
	return all
}

// console reads a block of commands with what they print.
func console(lines []string, at int) ([]Command, error) {
	var all []Command
	for i := 0; i < len(lines); i++ {
		text, is := strings.CutPrefix(lines[i], "$ ")
		switch {
		case is:
			c := Command{Line: at + i, Text: text, Check: true}
			for strings.HasSuffix(lines[i], `\`) && i+1 < len(lines) {
				i++
				c.Text += "\n" + lines[i]
			}
			all = append(all, c)
		case len(all) == 0:
			return nil, fmt.Errorf("%d: output without a command before it", at+i)
		default:
			last := &all[len(all)-1]
			last.Shown = append(last.Shown, lines[i])
		}
	}
	return all, nil
}
