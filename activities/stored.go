package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// storedPlan reads a plan by its digest, and keeps it for the next call. One plan is read at a time, and decoded once
// for all callers that ask for it together.
func (a *Activities) storedPlan(ctx context.Context, d artifacts.Digest) (*plan.Plan, error) {
	for {
		a.mu.Lock()
		p, reading := a.plans[d], a.reading
		if p == nil && reading == nil {
			a.reading = make(chan struct{})
		}
		a.mu.Unlock()
		if p != nil { // at once, however slowly another plan is read
			return p, nil
		}
		if reading == nil {
			break
		}
		select {
		case <-reading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		close(a.reading)
		a.reading = nil
	}()
	p, err := plan.Read(ctx, a.Store, d)
	if errors.Is(err, artifacts.ErrNotExist) {
		err = &planLostError{workflows.PlanLost{Plan: d, Store: a.Store.Own.URL}, err}
	}
	if err != nil {
		return nil, err
	}
	if err := p.CheckKinds(a.Registry); err != nil {
		return nil, step.Permanent(fmt.Errorf("plan %s: %w", d, err))
	}
	a.keep(d, p)
	return p, nil
}

// plansKept bounds the plans in memory, in bytes, except for a single plan.
const plansKept = 256 << 20

func (a *Activities) keep(d artifacts.Digest, p *plan.Plan) {
	size := 0
	for _, s := range p.Steps {
		size += len(s.Task.Config) + 1<<10
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept += size; a.plans == nil || a.kept > plansKept {
		a.plans, a.kept = map[artifacts.Digest]*plan.Plan{}, size
	}
	a.plans[d] = p
}

func (a *Activities) partResults(ctx context.Context, list workflows.Pages[artifacts.Digest]) ([]artifacts.Result, error) {
	keys, err := rowsOf(ctx, a, list)
	if err != nil {
		return nil, err
	}
	found, err := artifacts.LookupMany(ctx, a.Store, keys)
	if err != nil {
		return nil, err
	}
	parts := make([]artifacts.Result, len(keys))
	for i, k := range keys {
		if found[k] == nil {
			return nil, fmt.Errorf("part %d: result %s: %w", i, k, artifacts.ErrNotExist)
		}
		parts[i] = *found[k]
	}
	return parts, nil
}

// Stash keeps a page of a list, workflows.Pages, as a blob.
func (a *Activities) Stash(ctx context.Context, page []byte) (artifacts.Digest, error) {
	return artifacts.PutBytes(ctx, a.Store.Own.Blobs, page)
}

// Page returns what Stash kept.
func (a *Activities) Page(ctx context.Context, d artifacts.Digest) ([]byte, error) {
	b, err := artifacts.ReadBlob(ctx, a.Store, d, artifacts.AnySize)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", d, err)
	}
	return b, nil
}

// PagesOf returns rows as pages, and keeps in the store what does not fit a payload.
func PagesOf[T any](ctx context.Context, blobs artifacts.Blobs, rows []T) (workflows.Pages[T], error) {
	return workflows.PagesOf(rows, func(page []byte, _ int) (artifacts.Digest, error) { return artifacts.PutBytes(ctx, blobs, page) })
}

// rowsOf reads all pages.
func rowsOf[T any](ctx context.Context, a *Activities, p workflows.Pages[T]) ([]T, error) {
	return p.Rows(func(d artifacts.Digest, _ int) ([]byte, error) { return a.Page(ctx, d) })
}

func (a *Activities) storeTask(ctx context.Context, t step.Task) (artifacts.Digest, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return artifacts.Digest{}, err
	}
	return artifacts.PutBytes(ctx, a.Store.Own.Blobs, b)
}
