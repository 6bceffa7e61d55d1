package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/roofline"
	"github.com/redsi/redsi/internal/pipeline/hours"
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
func (h *hoursFlags) options() (*hours.Options, error) {
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
	o := &hours.Options{Card: card, Cards: h.cards, Price: card.Price, Unsupported: device.SupportedAnywhere(card.Capability)}
	if h.price != "" {
		if o.Price, err = strconv.ParseFloat(h.price, 64); err != nil || o.Price < 0 || math.IsInf(o.Price, 0) || math.IsNaN(o.Price) {
			return nil, fault.Input(fmt.Errorf("--price %q: want dollars per hour, such as 2.5", h.price))
		}
	}
	return o, nil
}
