package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/synth"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/compute"
	"github.com/redsi/redsi/internal/host/device"
	"github.com/redsi/redsi/internal/host/nvidia"
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/internal/host/revision"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

type Trial struct {
	Shapes  []rates.Shape
	Ask     rates.Ask // of each shape
	Records int       // of Natural Questions
}

// WholeTrial takes about a minute on eight cores, and about as long on a card.
func WholeTrial() Trial {
	return Trial{Shapes: rates.Shapes(), Ask: rates.Ask{Batch: 128, Documents: rates.Documents, Seconds: 2}, Records: 200}
}

// QuickTrial takes a second and says nothing of use: it is for tests of what is measured.
func QuickTrial() Trial {
	small := rates.Shapes()
	for i := range small {
		small[i].Layers, small[i].Width, small[i].FF, small[i].Heads = 1, 16, 32, 1
	}
	return Trial{Shapes: small[:2], Ask: rates.Ask{Batch: 8, Documents: 300, Seconds: 0.01}, Records: 2}
}

// Measure measures this machine's processors and a card of each sort, and keeps the rates in a folder. It fails if nothing
// can be measured.
func (t Trial) Measure(ctx context.Context, p *compute.Pool, folder string, say func(string)) error {
	facts, failed := p.Facts(ctx)
	if failed != nil {
		if earlier, _ := rates.Read(folder); slices.ContainsFunc(earlier, func(e rates.Rates) bool { return e.Device == attest.CPU() && len(e.Rates) > 1 }) {
			return fmt.Errorf("the rates of %s that were measured before are kept, since no model could be measured: %w", attest.CPU(), failed)
		}
		say(fmt.Sprintf("no model is measured: %v", failed))
	}
	p.SetThreads(runtime.GOMAXPROCS(0))
	p.Share(runtime.GOMAXPROCS(0))
	ratesOf := func(name string) rates.Rates {
		load, _ := capacity.Load()
		return rates.Rates{Device: name, When: time.Now().UTC().Truncate(time.Second), Load: load, Revision: revision.Of(), Libtorch: facts.Libtorch}
	}
	cpu := ratesOf(attest.CPU())
	cpu.Memory = capacity.Here().Memory
	say(cpu.Device + ": Natural Questions")
	extracted, err := t.extract()
	if err != nil {
		return err
	}
	cpu.Rates = []rates.Rate{extracted}
	all, cards := []rates.Rates{cpu}, []int{device.Processors}
	for i, c := range CardsOf(facts) {
		if slices.Contains(all[0].Cards, c.Name) {
			continue
		}
		r := ratesOf(c.Name)
		r.Card, r.Memory = true, c.Memory
		all, cards = append(all, r), append(cards, i)
		all[0].Cards = append(all[0].Cards, c.Name)
	}
	for i := range all {
		r := &all[i]
		for _, shape := range t.Shapes {
			if failed != nil {
				break
			}
			say(r.Device + ": " + shape.Name)
			ask, found := t.Ask, []rates.Rate{}
			ask.Shape, ask.Card = shape, r.Card
			err := p.With(ctx, cards[i], "", func(c *compute.Client) error { return c.Call(ctx, rates.Call, ask, &found) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				say(fmt.Sprintf("%s: %s is left out: %v", r.Device, shape.Name, err))
			}
			r.Rates = append(r.Rates, found...)
		}
		if len(r.Rates) == 0 {
			continue
		}
		if _, err := rates.Save(folder, *r); err != nil {
			return err
		}
	}
	return nil
}

// CardsOf are the cards that models may compute on.
func CardsOf(f device.Facts) []nvidia.Card {
	return f.Process.Cards[:min(len(f.Process.Cards), f.CUDA.Cards)]
}

// extract reads generated records of real size as kind extract does, without a store.
func (t Trial) extract() (rates.Rate, error) {
	c := synth.Bench()
	c.Pages, c.TrainQuestions, c.DevQuestions, c.TrainShards = t.Records, t.Records, 1, 1
	c.StubMembers, c.StubRevisionsPerPage, c.StubFillerPages = 1, 0, 0
	var file bytes.Buffer
	_, err := synth.Generate(c, func(name string) (io.WriteCloser, error) {
		if strings.HasPrefix(name, "nq-train") {
			return nopCloser{&file}, nil
		}
		return nopCloser{io.Discard}, nil
	}, nil)
	if err != nil {
		return rates.Rate{}, err
	}
	size, began := file.Len(), time.Now()
	rd := nq.NewReader(&file, "trial", nq.Options{Split: nq.Train, Format: nq.Full})
	defer rd.Close()
	err = dedup.WriteRecords(rd.Next, io.Discard, io.Discard, false)
	return rates.Rate{Unit: step.GzipBytes, PerSecond: float64(size) / time.Since(began).Seconds()}, err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Rates shows the rates that a folder has, and which devices of this machine, by their names, were not measured.
func Rates(folder string, here []string) (found []Finding) {
	all, bad := rates.Read(folder)
	missing := slices.Clone(here)
	for i, r := range all {
		f := Finding{What: "rates", OK: true, Soft: true, Note: rated(r), Rates: &all[i]}
		if n := slices.Index(missing, r.Device); n >= 0 {
			missing = slices.Delete(missing, n, n+1)
		} else if !slices.Contains(here, r.Device) {
			f.Note = "of another machine, for plan --on " + r.Name() + ": " + f.Note
		}
		found = append(found, f)
	}
	for _, err := range bad {
		found = append(found, Finding{What: "rates", Soft: true, Note: err.Error(), Do: "remove the file, or measure again: doctor --rates"})
	}
	for _, device := range missing {
		found = append(found, Finding{What: "rates", OK: true, Soft: true, Note: device + " was not measured, so plans know only what earlier runs took; doctor --rates measures it in a minute or two"})
	}
	return found
}

func rated(r rates.Rates) string {
	var parts []string
	if x, ok := r.Of(step.GzipBytes, "", "", 0); ok {
		parts = append(parts, fmt.Sprintf("Natural Questions %s/s", words.Size(int64(x.PerSecond))))
	}
	for _, s := range rates.Shapes() {
		var of []string
		memory := int64(0)
		for _, x := range r.Rates {
			if x.Shape != s.Name {
				continue
			}
			text := strings.TrimSpace(fmt.Sprintf("%.3g %s", x.PerSecond, x.Identifiers)) + " " + string(x.Unit) + "/s"
			if x.Documents > 0 {
				text += " of " + words.Count(x.Documents, "document")
			}
			if x.Note != "" {
				text += " (" + x.Note + ")"
			}
			of, memory = append(of, text), max(memory, x.Memory)
		}
		if memory > 0 {
			of = append(of, "in "+words.Size(memory)+" of memory")
		}
		if len(of) > 0 {
			parts = append(parts, s.Name+" "+strings.Join(of, ", "))
		}
	}
	return r.String() + ": " + strings.Join(parts, "; ")
}
