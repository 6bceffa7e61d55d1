package device

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/system/lists"
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

// Processors stands for no card.
const Processors = -1

// Choose is the card that a step of that device gets: of one that names none, a free one of
// the worker's, for which it waits. It is Processors if it asks for these, or for no card of
// all and the machine, which has so many, has none. give, which is never nil, is to be called when
// it ends.
func Choose(ctx context.Context, room *capacity.Pool, name string, have int) (card int, waited time.Duration, give func(), err error) {
	give = func() {}
	number, named := strings.CutPrefix(name, "cuda:")
	switch {
	case name == "cpu" || name == "":
		return Processors, 0, give, nil
	case name == "auto" && have == 0:
		return Processors, 0, give, nil
	}
	cards := room.Cards()
	from := cards.Steps
	if named || len(from) == 0 {
		n := 0
		if named {
			if n, err = strconv.Atoi(number); err != nil {
				return Processors, 0, give, step.Permanent(err)
			}
		}
		if cards.Only && !slices.Contains(from, n) {
			return Processors, 0, give, step.Permanent(fmt.Errorf("this worker computes on %s alone (--gpus), and the step asks for %s", names(from), cudaName(n)))
		}
		from = []int{n}
	}
	began := time.Now()
	got, give, err := room.Take(ctx, capacity.Want{Many: 1, Of: from}, func(string) {})
	if err != nil {
		return Processors, 0, give, err
	}
	return got[0], time.Since(began), give, nil
}

// names are cards as configurations name them.
func names(cards []int) string { return strings.Join(lists.Map(cards, cudaName), ", ") }

func cudaName(card int) string { return "cuda:" + strconv.Itoa(card) }

// Visible names cards as CUDA_VISIBLE_DEVICES does for a program that this process starts,
// which may have such a variable itself.
func Visible(cards []int) string {
	own := strings.Split(os.Getenv(nvidia.VisibleVariable), ",")
	names := make([]string, len(cards))
	for i, c := range cards {
		if names[i] = strconv.Itoa(c); c < len(own) && own[c] != "" {
			names[i] = strings.TrimSpace(own[c])
		}
	}
	return strings.Join(names, ",")
}

// Count is how many of NVIDIA's cards this process may give to programs. Nothing is loaded
// to know that.
func Count() int {
	found, _ := filepath.Glob("/dev/nvidia[0-9]*") // the pattern is valid
	if own, set := os.LookupEnv(nvidia.VisibleVariable); set {
		own, _, _ = strings.Cut(own, "-1") // which ends the list
		return min(len(found), len(strings.FieldsFunc(own, func(r rune) bool { return r == ',' })))
	}
	return len(found)
}

type givenKey struct{}

// Give is a context for a step whose process was given a device, whatever it asks for.
func Give(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, givenKey{}, name)
}

// Given is what Give was told; "" if it was not.
func Given(ctx context.Context) string {
	name, _ := ctx.Value(givenKey{}).(string)
	return name
}
