// Package option is as much of Google's API client as Temporal's server names.
package option

type ClientOption any

func WithTokenSource(any) ClientOption { return nil }
