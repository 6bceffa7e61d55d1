package impact

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
)

// versions finds the steps of Was that are no hits only because kinds, theirs or of what they read, have other versions
// than at their newest results, and returns each step's causes.
func (c *comparison) versions(ctx context.Context) ([]set, error) {
	found := make([]set, len(c.Was.Items))
	for j := range c.Was.Plan.Steps {
		x, it := &c.Was.Plan.Steps[j], &c.Was.Items[j]
		if it.Outcome == plan.Hit {
			continue
		}
		var before set
		for _, d := range x.Deps {
			before = before.with(found[d])
		}
		old, err := c.Newest(ctx, j)
		if err != nil {
			return nil, err
		}
		if old == nil {
			continue
		}
		now := it.Preimage
		if it.Outcome == plan.Maybe {
			if now, err = c.outline(x.Task, map[string]string{}); err != nil {
				return nil, fmt.Errorf("%s: %w", x.Address, err)
			}
		}
		changes, err := step.Diff(old, now)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Address, err)
		}
		var rules []step.Change
		pure := true
		for _, ch := range changes {
			switch {
			case isVersion(ch.Path):
				rules = append(rules, ch)
			case isInput(ch.Old) && isInput(ch.New): // what it reads is made anew
			default:
				pure = false
			}
		}
		if !pure || len(rules) == 0 && before.empty() {
			continue
		}
		for _, ch := range rules {
			before = before.plus(c.causes.place(Cause{Path: ch.Path, Old: ch.Old, New: ch.New, Text: versionText(x.Task.Kind, ch)}))
		}
		c.stood[j], found[j] = true, before
	}
	return found, nil
}

// versionText says which kind has another version: render_table 5 -> 6.
func versionText(kind string, ch step.Change) string {
	part := func(s string) (name, version string) {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
		name, version, _ = strings.Cut(s, "@")
		return name, version
	}
	switch {
	case ch.Path == "version":
		return fmt.Sprintf("kind %s: version %s -> %s", kind, ch.Old, ch.New)
	case ch.Old != "" && ch.New != "":
		name, old := part(ch.Old)
		if other, now := part(ch.New); other == name {
			return fmt.Sprintf("kind %s: version %s -> %s, whose parts %s has", name, old, now, kind)
		}
	}
	return fmt.Sprintf("kind %s: %s", kind, ch)
}
