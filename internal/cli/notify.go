package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"time"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/readers"
)

// notifyWithin bounds each of two attempts; notifyAgain is between them.
const notifyWithin = 10 * time.Second

var notifyAgain = time.Second

// notice is what is said of the end of a run. It has no texts that a step or an error says.
type notice struct {
	Pipeline  string              `json:"pipeline"`
	Run       string              `json:"run,omitempty"` // "": there was nothing to do, or it did not begin
	OK        bool                `json:"ok"`
	Cancelled bool                `json:"cancelled,omitempty"`
	Counts    map[runs.Status]int `json:"counts,omitempty"`
	Seconds   float64             `json:"seconds"`
	Failed    []string            `json:"failed,omitempty"`
}

var (
	isHTTP   = regexp.MustCompile(`^https?://`).MatchString
	schemeOf = regexp.MustCompile(`^[^ /]*://`)
)

// checkNotify refuses addresses of which nobody knows how to tell them.
func (o runOptions) checkNotify() error {
	scheme := schemeOf.FindString(o.notify)
	switch {
	case o.notify != "" && o.Detach:
		return fault.Input(errors.New("--notify cannot be used with --detach: who starts the run does not see its end; `redsi attach` does"))
	case scheme != "" && !isHTTP(o.notify):
		return fault.Input(fmt.Errorf("--notify takes http:// and https:// addresses, or a command, not %s", scheme))
	}
	return nil
}

// notify tells of the end of a run. That it fails is only a warning.
func (a *app) notify(ctx context.Context, to string, began time.Time, sum *drive.Summary, err error) {
	var stopped *drive.Cancelled
	n := notice{Pipeline: a.File, OK: err == nil, Cancelled: ctx.Err() != nil || errors.As(err, &stopped), Seconds: time.Since(began).Seconds()}
	ctx = context.WithoutCancel(ctx)
	if sum != nil {
		n.Pipeline, n.Run = sum.Pipeline, sum.RunID
		n.Counts = map[runs.Status]int{runs.Hit: sum.Hit, runs.Ran: sum.Ran}
		if n.Run == "" { // nothing to read
		} else if rec, err := runs.Read(ctx, sum.Of.Store.Own, n.Run); err == nil {
			end := drive.EndedOf(rec)
			n.Counts = end.Counts
			for _, s := range end.Failed[:min(len(end.Failed), 100)] {
				n.Failed = append(n.Failed, s.Address)
			}
		}
	}
	b, _ := json.Marshal(n) // it can be: it is texts and numbers
	err = tell(ctx, to, b)
	if err != nil && readers.Pause(ctx, notifyAgain) == nil {
		err = tell(ctx, to, b)
	}
	if err != nil {
		a.Log.Warn("--notify failed, which changes nothing of the run", "err", err)
	}
}

// tell gives a notice to an address or a command.
func tell(ctx context.Context, to string, b []byte) error {
	ctx, stop := context.WithTimeout(ctx, notifyWithin)
	defer stop()
	if !isHTTP(to) {
		cmd := exec.CommandContext(ctx, "sh", "-c", to)
		cmd.Stdin, cmd.WaitDelay = bytes.NewReader(append(b, '\n')), time.Second
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %.500s", err, said)
		}
		return err
	}
	// Errors leave the address out: it may have a password.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(b))
	if err != nil {
		return errors.New("its address is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Unwrap(err) // of *url.Error
	}
	res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("the answer was %s", res.Status)
	}
	return nil
}
