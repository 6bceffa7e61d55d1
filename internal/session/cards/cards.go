// Package cards owns which cards a worker is given: what was asked for, checked against the machine's cards. It must not know flags,
// or compute on a card.
package cards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

type Options struct {
	GPUs     string
	AllowCPU bool
}

// asked are the numbers of the cards that --gpus asks for; have is how many there are, -1: unknown yet.
func asked(text string, have int) (list []int, err error) {
	bad := func(why string) ([]int, error) {
		return nil, fault.Input(fmt.Errorf("--gpus %s: %s; it is a number of cards, all, or a list, such as 0,2 or cuda:2", text, why))
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return bad("that is not a card (cuda:0 is the first one; without --queue redsi-gpu none is needed)")
		}
		list = lists.Places(n)
	} else if text == "all" {
		list = lists.Places(max(have, 0))
	} else {
		for word := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(word), "cuda:"))
			switch {
			case err != nil || n < 0:
				return bad(fmt.Sprintf("%q is not a card", word))
			case slices.Contains(list, n):
				return bad(fmt.Sprintf("card %d is listed twice", n))
			}
			list = append(list, n)
		}
	}
	if have >= 0 && len(list) > 0 && slices.Max(list) >= have {
		return nil, fault.Input(fmt.Errorf("--gpus: this process sees %s, numbered 0 to %d; CUDA_VISIBLE_DEVICES decides which, `nvidia-smi -L` lists the machine's cards", words.Count(have, "card"), have-1))
	}
	return list, nil
}

// Check checks the flags of a worker, independently of the machine's cards.
func (o *Options) Check(w worker.Options) error {
	if o.GPUs == "" {
		return nil
	}
	if !pollsGPU(w) {
		return fault.Input(errors.New("--gpus applies only to steps of queue redsi-gpu, but this worker polls only --queue redsi"))
	}
	_, err := asked(o.GPUs, -1)
	return err
}

func pollsGPU(w worker.Options) bool {
	return len(w.Queues) == 0 || slices.Contains(w.Queues, workflows.GPUTaskQueue)
}

// For gives a worker the requested cards; without any it leaves the queue redsi-gpu to others, unless that was asked for.
func For(ctx context.Context, dr *drive.Driver, w *worker.Options, o Options) (shown string, err error) {
	if !pollsGPU(*w) {
		return "not needed", nil
	}
	cuda, err := dr.SecondProgram().Cards(ctx)
	if err != nil {
		cuda.Why = err.Error()
	}
	if cuda.Cards == 0 {
		if o.AllowCPU && o.GPUs == "" {
			return "none: " + cuda.Why, nil
		}
		if len(w.Queues) == 0 && o.GPUs == "" {
			w.Queues = []string{workflows.TaskQueue}
			dr.Say(fmt.Sprintf("this worker takes steps of queue %s and leaves those of %s to others, since there is no card here: %s; `%s` also runs them, on the CPU",
				workflows.TaskQueue, workflows.GPUTaskQueue, cuda.Why, dr.Hint("worker", "--allow-cpu")))
			return "none", nil
		}
		var queues []string
		for _, q := range w.Queues {
			queues = append(queues, "--queue", q)
		}
		return "", fault.Input(fmt.Errorf("queue %s is for steps on cards, but there is none here: %s\n`%s` shows what is missing; `%s` takes the other steps; `%s` runs on the CPU",
			workflows.GPUTaskQueue, cuda.Why, dr.Hint("doctor"), dr.Hint("worker", "--queue", workflows.TaskQueue), dr.Hint("worker", append(queues, "--allow-cpu")...)))
	}
	if o.GPUs != "" {
		if w.Cards, err = asked(o.GPUs, cuda.Cards); err != nil {
			return "", err
		}
	}
	facts, err := dr.SecondProgram().Facts(ctx)
	if err != nil {
		return "", err
	}
	names := lists.Map(w.Cards, facts.Name)
	if len(names) == 0 {
		names = []string{facts.Name(0)}
	}
	return strings.Join(names, ", "), nil
}
