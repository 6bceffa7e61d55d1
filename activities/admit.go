package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"go.temporal.io/sdk/activity"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/usage"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// admitted is a step that may run here now.
type admitted struct {
	step.Granted
	asks   step.Resources
	failed int    // tries of this run whose program has failed
	unfit  string // if not "", why this worker never has so much
}

// admit returns when what a step asks for fits beside the steps that run here; that time is not the step's. give,
// which is never nil, is to be called when the step has ended.
func (a *Activities) admit(ctx context.Context, req workflows.ExecuteRequest, task step.Task, failed int) (of admitted, give func(), err error) {
	give, of.failed = func() {}, failed
	has := a.Room.Has()
	of.asks = req.Resources.For(of.failed)
	if of.failed > 0 && req.Resources.Memory <= has.Memory {
		of.asks.Memory = min(of.asks.Memory, has.Memory) // if it has grown beyond that, it gets everything
	}
	want := capacity.Amount{CPUs: of.asks.CPUs, Memory: of.asks.Memory, GPUs: of.asks.GPUs}
	queue := ""
	if activity.IsActivity(ctx) {
		queue = activity.GetInfo(ctx).TaskQueue
	}
	if want.CPUs == 0 && !workflows.IsGPUQueue(queue) {
		want.CPUs = 1
	}
	if spec := a.Registry.Lookup(task.Kind); spec != nil && spec.Needs != "" {
		want.GPUs = 0 // its device says which card it gets
	}
	if lacks := has.Lacks(want, "this worker"); lacks != "" {
		if of.unfit = "it asks for " + lacks; a.OnlyWorker {
			err = step.Permanent(errors.New(of.unfit + of.where()))
		}
		return of, give, err
	}
	over := func() {}
	cards, give, err := a.Room.Take(ctx, capacity.Want{Amount: want, Many: want.GPUs, Of: a.Room.Cards().Programs}, func(what string) {
		step.Reporter(ctx)(step.Progress{Note: "waiting for " + what})
		if a.OnWait != nil {
			over = a.OnWait(queue)
		}
	})
	over()
	of.Granted = of.asks.Granted()
	if len(cards) > 0 {
		of.Cards = device.Visible(cards)
	}
	return of, give, err
}

// notes returns env with notes on what the step asked for.
func (of admitted) notes(env map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, env)
	if of.CPUs > 0 {
		all[step.NotePrefix+cpusNote] = strconv.Itoa(of.CPUs)
	}
	if of.Memory > 0 {
		all[step.NotePrefix+"memory asked for"] = words.Size(of.Memory)
	}
	if of.failed > 0 {
		all[step.NotePrefix+"tries"] = fmt.Sprintf("%d, of at most %d", of.failed+1, of.asks.Tries+1)
	}
	return all
}

const cpusNote = "cpus"

// noted returns a number from the notes of a result; 0 if there is none.
func noted(r artifacts.Result, name string) int {
	n, _ := strconv.Atoi(r.Env[step.NotePrefix+name])
	return max(0, n)
}

// before returns what counts of earlier attempts of this run: how often the program of a step with retry has failed,
// and how long it ran on workers that ended before it did.
func (a *Activities) before(ctx context.Context, req workflows.ExecuteRequest) (runs.Failure, error) {
	if req.RunID == "" || a.Fits == nil && req.Resources.For(0).Tries == 0 {
		return runs.Failure{}, nil
	}
	return runs.ReadFailure(ctx, a.Store.Own, req.RunID, req.Key)
}

// within does a step's work, without waiting, in the time that it asks for.
func (of admitted) within(ctx context.Context, work func(context.Context) error) error {
	if of.asks.Time == 0 {
		return work(ctx)
	}
	timed, stop := usage.WithTimeout(ctx, of.asks.Time)
	defer stop()
	err := work(timed)
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		return step.Permanent(overTime{fmt.Errorf("it ran longer than its time of %s: raise time in its resources%s", words.Seconds(of.asks.Time), of.where())})
	}
	return err
}

// explained completes the error of a step's program: how it may follow from what the step asked for, and whether the
// step is retried.
func (of admitted) explained(ctx context.Context, err error, used *artifacts.Used) error {
	var exit *command.ExitError
	var late *command.TimeoutError
	program := errors.As(err, &exit) || errors.As(err, &late) || is[overTime](err)
	if err == nil || ctx.Err() != nil || !program {
		return err
	}
	if exit != nil && exit.OutOfMemory() {
		err = of.outOfMemory(err, used)
	}
	if of.asks.Tries == 0 {
		return err
	}
	n, most := of.failed+1, of.asks.Tries+1
	if n < most {
		return &failedTry{fmt.Errorf("try %d of %d: %v", n, most, err), n}
	}
	return step.Permanent(fmt.Errorf("%w\nthat was try %d of %d: see retry%s", err, n, most, of.where()))
}

// outOfMemory adds to an error how much memory the step took and asked for, and where to change that.
func (of admitted) outOfMemory(err error, used *artifacts.Used) error {
	peak := "Its peak is not known"
	if used != nil && used.MemoryOf == artifacts.MemoryOfProgram {
		peak = fmt.Sprintf("Its largest process had %s", words.Size(used.Memory))
	}
	if of.asks.Memory == 0 {
		return fmt.Errorf("%w\n%s, and it asks for none: with resources { memory = \"…\" } the steps that run beside it leave it so much", err, peak)
	}
	return fmt.Errorf("%w\n%s, and it asked for %s: raise memory in its resources%s", err, peak, words.Size(of.asks.Memory), of.where())
}

// where returns the place of a step's resources in its file.
func (of admitted) where() string {
	if of.asks.At == "" {
		return ""
	}
	return " (" + of.asks.At + ")"
}
