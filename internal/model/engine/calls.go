package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/redsi/redsi/internal/ranking/search"
)

// Calls answer for the one engine of a process: opening another closes it.
func Calls() map[string]func(context.Context, json.RawMessage) (any, error) {
	var open *Engine
	return map[string]func(context.Context, json.RawMessage) (any, error){
		search.OpenCall: func(ctx context.Context, args json.RawMessage) (any, error) {
			var o search.Opening
			if err := json.Unmarshal(args, &o); err != nil {
				return nil, err
			}
			if open != nil {
				if err := open.Close(); err != nil {
					return nil, err
				}
				open = nil
			}
			e, err := Open(ctx, o.Files, o.Documents, o.Options)
			if err != nil {
				return nil, err
			}
			open = e
			return e.About(), nil
		},
		search.AskCall: func(ctx context.Context, args json.RawMessage) (any, error) {
			var a search.Asking
			if err := json.Unmarshal(args, &a); err != nil {
				return nil, err
			}
			if open == nil {
				return nil, errors.New("nothing is open to search")
			}
			return open.Search(ctx, a.Queries, a.K)
		},
	}
}
