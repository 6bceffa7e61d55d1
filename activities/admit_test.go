package activities

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestTimeIsOfTheWork: a step's time begins when it has the card that it waits for.
func TestTimeIsOfTheWork(t *testing.T) {
	outputs := []step.Output{{Name: "out", Type: "text"}}
	a := &Activities{Store: artifacts.Alone(mem.New()), Log: slog.New(slog.DiscardHandler), Registry: step.NewRegistry(
		step.Define(step.Kind[struct{}]{Name: "computes", Version: 1, Doc: "D.", Outputs: outputs, Needs: step.Libtorch,
			Device: func(struct{}) string { return "cuda:0" }}),
		step.Define(step.Kind[struct{}]{Name: "sleeps", Version: 1, Doc: "D.", Outputs: outputs, Run: func(ctx context.Context, _ *step.IO, _ struct{}) error {
			<-ctx.Done()
			return ctx.Err()
		}}))}
	of := admitted{asks: step.Resources{Time: time.Second}}
	run := func(ctx context.Context, kind string) error {
		_, err := a.run(ctx, workflows.ExecuteRequest{}, a.Registry.Lookup(kind), step.Task{Kind: kind, Config: []byte("{}")}, nil, of, &stepLog{}, false)
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		a.Room = capacity.NewPool(capacity.Amount{}, capacity.Cards{})
		_, give, err := a.Room.Take(t.Context(), capacity.Want{Many: 1, Of: []int{0}}, nil)
		errtest.None(t, err)
		time.AfterFunc(time.Hour, give)
		if err := run(t.Context(), "computes"); !errors.Is(err, os.ErrNotExist) { // of the program that would compute it
			t.Errorf("it waited for its card: %v", err)
		}
		if err := run(t.Context(), "sleeps"); !is[overTime](err) || !step.IsPermanent(err) {
			t.Errorf("it took too long: %v", err)
		}
	})
}
