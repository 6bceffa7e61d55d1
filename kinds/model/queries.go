package model

import (
	"github.com/redsi/redsi/internal/retrieve"
	"github.com/redsi/redsi/internal/subword"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// openReader opens a model's tokenizer, the caller's to close, and reads with it as in says.
func openReader(x *step.IO, tokenizer step.Inputs, in retrieve.Inputs) (retrieve.Reader, error) {
	path, err := inout.OnlyFile(x, tokenizer, "tokenizer")
	if err != nil {
		return retrieve.Reader{}, err
	}
	tok, err := subword.LoadSubword(path)
	if err != nil {
		return retrieve.Reader{}, step.Permanent(err)
	}
	read, err := in.Reader(tok)
	if err != nil {
		tok.Close()
	}
	return read, step.Permanent(err)
}
