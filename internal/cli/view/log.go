package view

import (
	"context"
	"log/slog"

	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/lists"
)

// Log is a handler that passes records on to another one without control characters: messages
// and names on one line, values with their lines.
func Log(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ to slog.Handler }

func (h logHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.to.Enabled(ctx, l) }

func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, escape.Line(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(attr(a))
		return true
	})
	return h.to.Handle(ctx, out)
}

func (h logHandler) WithAttrs(as []slog.Attr) slog.Handler {
	return logHandler{h.to.WithAttrs(lists.Map(as, attr))}
}

func (h logHandler) WithGroup(name string) slog.Handler {
	return logHandler{h.to.WithGroup(escape.Line(name))}
}

func attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString, slog.KindAny: // an error, mostly
		v = slog.StringValue(escape.Text(v.String()))
	case slog.KindGroup:
		v = slog.GroupValue(lists.Map(v.Group(), attr)...)
	}
	return slog.Attr{Key: escape.Line(a.Key), Value: v}
}
