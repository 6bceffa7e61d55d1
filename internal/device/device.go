package device

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/redsi/redsi/step"
)

var deviceName = regexp.MustCompile(`^(auto|cpu|cuda(:[0-9]+)?)$`)

// Check says what is wrong with a kind's device; whether it is there is for
// the worker that runs the step to say.
func Check(name string) step.Problems {
	if deviceName.MatchString(name) {
		return nil
	}
	return step.Problems{{Path: "device", Detail: "must be auto, cpu, cuda or cuda:N"}}
}

// Choose is the card that a step of that device gets: of one that names none, a free one of
// the worker's, for which it waits. ok is false if it computes on the processors: it asks
// for that, or for no card of all and there is none.
func Choose(ctx context.Context, name string, have int, why func() string) (index int, ok bool, err error) {
	number, named := strings.CutPrefix(name, "cuda:")
	switch {
	case name == "cpu" || name == "":
		return 0, false, nil
	case name == "auto" && have == 0:
		turnOf(ctx).pool.tellAlone(why())
		return 0, false, nil
	}
	n := 0
	if named {
		if n, err = strconv.Atoi(number); err != nil {
			return 0, false, step.Permanent(err)
		}
	}
	index, err = turnOf(ctx).take(ctx, n, !named)
	if err != nil && ctx.Err() == nil {
		err = step.Permanent(err)
	}
	return index, err == nil, err
}
