package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Command is a command line of the documentation.
type Command struct {
	Line  int // in its file, from 1
	Text  string
	Shown []string // what it prints, if Check
	Check bool     // output is shown
}

// Block is a fenced block of commands, with the marks in its comment.
type Block struct {
	File     string
	Commands []Command
	NotRun   string // why it is not run; "" if it is
	Long     bool
	In       string // folder, relative to the copy
	Exit     int
	Varies   *regexp.Regexp
	Until    string
}

// marks reads the marks in the comment before a block.
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

// Blocks returns the blocks of commands of a Markdown file, in order. A fence without a language whose first line
// begins with "$ " is an error.
func Blocks(file, text string) ([]Block, error) {
	var blocks []Block
	said, saidAt := "", 0
	orphan := func() error { return fmt.Errorf("%s:%d: no block follows this comment", file, saidAt) }
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if m := comment.FindStringSubmatch(lines[i]); m != nil {
			if said != "" {
				return nil, orphan()
			}
			said, saidAt = m[1], i+1
			continue
		}
		m := fence.FindStringSubmatch(lines[i])
		if m == nil {
			if said != "" && strings.TrimSpace(lines[i]) != "" {
				return nil, orphan()
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
		switch {
		case m[2] == "sh" || m[2] == "console":
			var err error
			if b.Commands, err = commands(lines[begin:i], begin+1, m[2] == "console"); err != nil {
				return nil, fmt.Errorf("%s:%w", file, err)
			}
		case m[2] == "" && strings.HasPrefix(lines[begin], "$ "):
			return nil, fmt.Errorf("%s:%d: a block of commands with output is ```console", file, begin)
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
		return nil, orphan()
	}
	return blocks, nil
}

// commands reads the lines of a block, the first of which has the number at in its file. If output is shown, a command
// comes after "$ ", and its output follows it.
func commands(lines []string, at int, shown bool) ([]Command, error) {
	var all []Command
	for i := 0; i < len(lines); i++ {
		text, is := lines[i], !shown
		if shown {
			text, is = strings.CutPrefix(text, "$ ")
		}
		switch s := strings.TrimSpace(text); {
		case !shown && (s == "" || s[0] == '#'):
		case is:
			c := Command{Line: at + i, Text: text, Check: shown}
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
