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

// Check says what is wrong with the name of a device. Whether the device exists is told by the worker that runs the step.
func Check(name string) step.Problems {
	if deviceName.MatchString(name) {
		return nil
	}
	return step.Problems{{Path: "device", Detail: "must be auto, cpu, cuda or cuda:N"}}
}

// Processors stands for no card.
const Processors = -1

// Choose returns the card for a step that asks for a device: the card that it names, else a free card of the worker, for
// which it waits. The result is Processors for the device cpu, and for auto on a machine that has no cards (have is 0).
// give, which is never nil, is to be called when the step ends.
func Choose(ctx context.Context, room *capacity.Pool, name string, have int) (card int, waited time.Duration, give func(), err error) {
	give = func() {}
	if name == "cpu" || name == "" || name == "auto" && have == 0 {
		return Processors, 0, give, nil
	}
	cards := room.Cards()
	from := cards.Steps
	number, named := strings.CutPrefix(name, "cuda:")
	if named || len(from) == 0 {
		n := 0
		if named {
			if n, err = strconv.Atoi(number); err != nil {
				return Processors, 0, give, step.Permanent(err)
			}
		}
		if cards.Only && !slices.Contains(from, n) {
			return Processors, 0, give, step.Permanent(fmt.Errorf("this worker computes only on %s (--gpus), and the step asks for %s",
				strings.Join(lists.Map(from, cudaName), ", "), cudaName(n)))
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

func cudaName(card int) string { return "cuda:" + strconv.Itoa(card) }

// Visible returns CUDA_VISIBLE_DEVICES for a program that this process starts and that is to see only some cards of this
// process, which may have such a variable itself.
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

// Count returns how many NVIDIA cards this process may give to programs, without loading a library.
func Count() int {
	found, _ := filepath.Glob("/dev/nvidia[0-9]*") // the pattern is valid
	if own, set := os.LookupEnv(nvidia.VisibleVariable); set {
		own, _, _ = strings.Cut(own, "-1") // which ends the list
		return min(len(found), len(strings.FieldsFunc(own, func(r rune) bool { return r == ',' })))
	}
	return len(found)
}

type givenKey struct{}

// Give returns a context for a step whose process was given a device, whatever the step asks for.
func Give(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, givenKey{}, name)
}

// Given returns the device of Give; "" without one.
func Given(ctx context.Context) string {
	name, _ := ctx.Value(givenKey{}).(string)
	return name
}
