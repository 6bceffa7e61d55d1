package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	cardhours "github.com/redsi/redsi/internal/pipeline/hours"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
)

// hoursFlags are the flags of plan --hours.
type hoursFlags struct {
	asked bool
	on    string
	cards int
	price string
}

func (h *hoursFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	var known []string
	for _, c := range roofline.Cards() {
		known = append(known, c.Name)
	}
	f.BoolVar(&h.asked, "hours", false, "hours and cost of the steps on cards, measured if possible, else computed")
	f.StringVar(&h.on, "on", "", "with --hours, the type of card: "+strings.Join(known, ", "))
	f.IntVar(&h.cards, "cards", 1, "with --hours, how many cards there are")
	f.StringVar(&h.price, "price", "", "with --hours, US dollars per card and hour (default: a typical rental price)")
	onlyWith(cmd, "hours", "on", "cards", "price")
}

// options are the hours that the flags ask for; nil: none.
func (h *hoursFlags) options() (*cardhours.Options, error) {
	if !h.asked {
		return nil, nil
	}
	if h.on == "" {
		return nil, fault.Input(errors.New("--hours needs a type of card, such as --on h100"))
	}
	card, err := roofline.CardNamed(h.on)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("--on: %w", err))
	}
	if h.cards < 1 {
		return nil, fault.Input(fmt.Errorf("--cards %d: at least 1 is needed", h.cards))
	}
	o := &cardhours.Options{Card: card, Cards: h.cards, Price: card.Price, Unsupported: device.SupportedAnywhere(card.Capability)}
	if h.price != "" {
		if o.Price, err = strconv.ParseFloat(h.price, 64); err != nil || o.Price < 0 || math.IsInf(o.Price, 0) || math.IsNaN(o.Price) {
			return nil, fault.Input(fmt.Errorf("--price %q: want dollars per hour, such as 2.5", h.price))
		}
	}
	return o, nil
}

// keepForHours keeps the results that works read, and those of steps on cards.
func (a *app) keepForHours(pl *plan.Plan) plan.Keep {
	asked, held := cardhours.Asked(pl, a.Registry), 0
	return func(i int, _ *plan.Item) bool {
		if asked[i] {
			return true
		}
		if pl.Steps[i].Queue != "gpu" || held == journal.HeldForHours {
			return false
		}
		held++
		return true
	}
}

// either keeps what at least one of two keeps.
func either(x, y plan.Keep) plan.Keep {
	return func(i int, it *plan.Item) bool {
		first, second := x(i, it), y(i, it)
		return first || second
	}
}

// hoursOf reads from the store what hours depend on.
func (a *app) hoursOf(ctx context.Context, store artifacts.Store, v *plan.Preview, past *journal.Journal, e *estimate.Estimate, o cardhours.Options) (*cardhours.Hours, error) {
	earlier, err := past.OnCards(ctx, store.Own(), v)
	if err != nil {
		return nil, err
	}
	return cardhours.Of(v, a.Registry, e, cardhours.Facts{
		Counts: func(i int) map[string]int64 {
			if r := v.Items[i].Result; r != nil {
				return r.Counts
			}
			return nil
		},
		File: func(i int, output, name string) ([]byte, error) {
			return resultFile(ctx, store, v.Items[i].Result, output, name)
		},
		Took: func(i int) []cardhours.Took {
			if r := v.Items[i].Result; r != nil {
				return journal.TookOnCard(r)
			}
			return earlier[i]
		},
	}, o)
}

// mostOfFile bounds a config.json or a report.
const mostOfFile = 1 << 20

// fileOf reads a file of a result's output; nil if there is none.
func resultFile(ctx context.Context, store artifacts.Store, r *artifacts.Result, output, name string) ([]byte, error) {
	if r == nil {
		return nil, nil
	}
	of, ok := r.Outputs[output]
	digest := of.Digest
	if name != "" && ok {
		var f artifacts.File
		f, ok = of.File(name)
		digest = f.Digest
	}
	if !ok {
		return nil, nil
	}
	rc, err := store.Blobs.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(io.LimitReader(rc, mostOfFile))
}
