package workflows

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/redsi/redsi/artifacts"
)

// An error of an activity comes to who started the run with its kind and fields, through
// the server's form of it.
func TestErrorOf(t *testing.T) {
	plan := PlanLost{Plan: artifacts.Sum([]byte("plan")), Store: "/elsewhere"}
	result := ReproduceResult{RunID: "r", Failed: 2, Changed: []string{"step.a.b"}}
	app := temporal.NewNonRetryableApplicationError
	for name, c := range map[string]struct {
		err  error
		want *RunError
	}{
		"no plan":                {app("gone", PlanLostError, nil, plan), &RunError{Type: PlanLostError, Text: "gone", PlanLost: &plan}},
		"no plan, wrapped":       {fmt.Errorf("activity: %w", app("gone", PlanLostError, nil, plan)), &RunError{Type: PlanLostError, Text: "gone", PlanLost: &plan}},
		"failed steps":           {app("2 of 3", FailedRun, nil, result), &RunError{Type: FailedRun, Text: "2 of 3", Result: result}},
		"of another version":     {app("2 of 3", FailedRun, nil, "text"), &RunError{Type: FailedRun, Text: "2 of 3"}},
		"before there were such": {app("plan sha256:00: not in the store", InputLostError, nil), &RunError{Type: InputLostError, Text: "plan sha256:00: not in the store"}},
		"no application error":   {errors.New("x"), &RunError{Type: PermanentError, Text: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := temporal.GetDefaultFailureConverter()
			if got := ErrorOf(f.FailureToError(f.ErrorToFailure(final(c.err)))); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
