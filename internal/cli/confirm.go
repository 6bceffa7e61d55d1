package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/system/fault"
)

// confirmOptions says which runs need a confirmation at the terminal.
type confirmOptions struct {
	above string
	yes   bool
}

func (o *confirmOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.above, "confirm-above", env("REDSI_CONFIRM_ABOVE", usualLimits), "on a terminal, ask before a run of more work or downloads than this: TIME, SIZE or both; never: do not ask")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
}

const usualLimits = "4h,20GB"

// unknownSteps is how many steps without history, after downloads of unknown size, make a run
// need a confirmation: its cost is unknown.
const unknownSteps = 20

// limits are what a run may take without a confirmation.
type limits struct {
	work     time.Duration
	download int64
}

// limits reads --confirm-above; nil: never ask. What it does not name keeps its default
// limit.
func (o *confirmOptions) limits() (*limits, error) {
	if o == nil {
		return nil, nil
	}
	above := strings.TrimSpace(o.above)
	if o.yes || above == "never" || above == "0" {
		return nil, nil
	}
	var l limits
	for _, part := range strings.Split(usualLimits+","+above, ",") {
		part = strings.TrimSpace(part)
		if d, err := time.ParseDuration(part); err == nil && d > 0 {
			l.work = d
		} else if n, err := sizeOf("", part, ""); err == nil {
			l.download = n
		} else {
			return nil, fault.Input(fmt.Errorf("--confirm-above %s: want a time such as 4h, a size such as 20GB, both with a comma between them, or never", above))
		}
	}
	return &l, nil
}

// exceeded reports whether a run takes more, as far as that is known.
func (l *limits) exceeded(e *estimate.Estimate) bool {
	return e.WorkP50 > l.work || e.Download.Bytes > l.download || e.Download.Unknown > 0 && e.Unknown > unknownSteps
}

// confirm asks at the terminal, if there is one, before a large run. An error says that the
// answer was no.
func (a *app) confirm(ctx context.Context, o *confirmOptions, store artifacts.Store, v *plan.Preview) error {
	l, err := o.limits()
	if err != nil || l == nil || v.Done() || !term.IsTerminal(int(os.Stdin.Fd())) {
		return err
	}
	past, err := a.Journal(ctx, store.Own(), v)
	if err != nil {
		return err
	}
	e, err := a.EstimateOf(ctx, store.Own(), v, past)
	if err != nil || !l.exceeded(e) && !(isDown(store) && e.Unknown > unknownSteps) {
		return err
	}
	if yes, asked := ask(ctx, cost(e)+"Continue?"); yes || !asked {
		return nil
	}
	return fault.Failed(errors.New("nothing was run: use --yes to skip this question, or --target to run less"))
}

// ask asks the person at the terminal; asked is false if there is no terminal.
func ask(ctx context.Context, question string) (yes, asked bool) {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return false, false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return false, false
	}
	defer tty.Close()
	view.Printf(tty, "%s [y/N] ", view.Document(question))
	answer := make(chan string, 1)
	go func() { // ends with the process
		line, _ := bufio.NewReader(io.LimitReader(os.Stdin, 1000)).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case text := <-answer:
		return text == "y" || text == "yes", true
	case <-ctx.Done():
		return false, true
	}
}

// isDown reports whether another store does not answer: it alone may have results, and know
// how long steps take.
func isDown(store artifacts.Store) bool {
	return slices.ContainsFunc(store.Others(), func(o artifacts.OtherState) bool { return o.Err != nil })
}

// cost says what a run is expected to take.
func cost(e *estimate.Estimate) string {
	var s strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&s, "  %-10s "+format+"\n", append([]any{what}, args...)...)
	}
	fmt.Fprintf(&s, "This run is large: %s to do.\n", view.Count(e.Steps, "step"))
	if known := e.Steps - e.Unknown; known > 0 {
		line("work", "%s; %s if every step is slow", view.Seconds(e.WorkP50), view.Seconds(e.WorkP90))
	}
	if e.GPUP50 > 0 {
		line("on GPUs", "%s of it", view.Seconds(e.GPUP50))
	}
	if e.Unknown > 0 {
		line("unknown", "%s without history", view.Count(e.Unknown, "step"))
	}
	if d := e.Download; d.Sources > 0 {
		var parts []string
		if known := d.Sources - d.Unknown; known > 0 {
			parts = append(parts, view.Size(d.Bytes)+" from "+view.Count(known, "source"))
		}
		if d.Unknown > 0 {
			parts = append(parts, view.Count(d.Unknown, "source")+" of unknown size")
		}
		line("download", "%s", strings.Join(parts, ", "))
	}
	if e.Bytes > 0 {
		text := view.Size(e.Bytes)
		if e.BytesUnknown > 0 {
			text += ", not counting " + view.Count(e.BytesUnknown, "step") + " of unknown size"
		}
		line("results", "%s", text)
	}
	return s.String()
}
