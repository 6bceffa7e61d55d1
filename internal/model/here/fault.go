package here

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/step"
)

// Explain marks the error of a step by what it means for the card. A card that was full or is too old fails a retry
// too: the error says what to change. After an error that the process cannot continue from, or for which the machine
// had no memory, another process may do the step. Other errors are returned as they are.
func Explain(err error) error {
	e, ok := errors.AsType[*tensor.Error](err)
	if !ok {
		return err
	}
	switch e.Fault() {
	case tensor.OutOfMemory:
		return step.Permanent(fmt.Errorf("%w\n%s", err, advice(e.Room())))
	case tensor.NoKernel:
		return step.Permanent(fmt.Errorf("%w\nthis libtorch has no code for this card: `redsi doctor` lists the cards that it supports; use another one, or device = \"cpu\"", err))
	case tensor.NoMemory:
		return step.Poisoned(fmt.Errorf("%w\nthis machine's memory was full: run fewer steps at a time (--slots), say what the step needs (resources { memory = \"12GB\" }), or use a smaller batch", err))
	case tensor.Poisoned:
		return step.Poisoned(err)
	}
	return err
}

// advice says of a card that was full what was asked of it and what to change.
func advice(r tensor.Room) string {
	var facts []string
	fact := func(n int64, format string) {
		if n > 0 {
			facts = append(facts, fmt.Sprintf(format, humanize.IBytes(uint64(n))))
		}
	}
	fact(r.Asked, "%s more were requested")
	fact(r.Total, "the card has %s")
	fact(r.Free, "%s were free")
	fact(r.Own, "this process had %s")
	fact(r.Others(), "other programs had %s (see nvidia-smi)")
	text := "the card's memory is full"
	if len(facts) > 0 {
		text += ": " + strings.Join(facts, ", ")
	}
	return text + ". A retry would fail the same way, so there is none. For training: checkpoint_activations = true (the result stays), accumulate = 2 or more " +
		"(the update stays, up to rounding), precision = \"bf16\" or \"fp16\", or a smaller batch (another update). For a search or an embedding: a smaller batch or batch_tokens. " +
		"Or fewer steps on the card (--gpu-slots), or a card with more memory"
}
