package compute

import (
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// openTokenizer opens a model's tokenizer, the caller's to close, and what reads with it.
func openTokenizer[R any](x *step.IO, in step.Inputs, reader func(retrieve.Tokenizer) (R, error)) (tok *subword.Subword, read R, err error) {
	if tok, err = inout.OpenTokenizer(x, in, "tokenizer", subword.LoadSubword); err != nil {
		return nil, read, err
	}
	if read, err = reader(tok); err != nil {
		tok.Close()
	}
	return tok, read, step.Permanent(err)
}
