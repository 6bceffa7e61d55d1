package step

import "context"

// Progress is how far a step is; Total 0 means unknown.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total,omitempty"`
	Unit  string `json:"unit,omitempty"` // "bytes", "records", "steps"
	Note  string `json:"note,omitempty"` // what is being done, in a few words

	// LeftS is how many seconds are left where the step knows better than the share
	// done of the time since: one that resumed, say. 0: not known.
	LeftS float64 `json:"left_s,omitempty"`

	// Step is the address of the step, where its activity tells it.
	Step string `json:"step,omitempty"`
}

type reporterKey struct{}

// WithReporter returns a context by which what is called can say how far it is.
// The function must not block and may be called from several goroutines.
func WithReporter(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, reporterKey{}, report)
}

// Reporter returns the function that WithReporter was given, or one that does nothing.
func Reporter(ctx context.Context) func(Progress) {
	if f, ok := ctx.Value(reporterKey{}).(func(Progress)); ok {
		return f
	}
	return func(Progress) {}
}
