package cli

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/redsi/redsi/internal/system/fault"
)

// size is a flag's number of bytes, which is at least one where it is given.
type size struct {
	n             int64  // 0: not given
	text          string // as it was given
	name, example string // of the flag
	to            *int64 // if set, gets it too
}

// flag adds the flag, with an example of a size for who gets it wrong.
func (s *size) flag(f *pflag.FlagSet, name, example, usage string) {
	s.name, s.example = "--"+name, example
	f.Var(s, name, usage)
}

func (s *size) String() string { return s.text }
func (s *size) Type() string   { return "size" }

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return &sizeError{fault.Input(fmt.Errorf("%s %s: want a size above 0, such as %s", s.name, text, s.example))}
	}
	s.n, s.text = int64(n), text
	if s.to != nil {
		*s.to = s.n
	}
	return nil
}

// sizeError says all of a size that cannot be read: the flag, the text, and what is wanted.
type sizeError struct{ error }
