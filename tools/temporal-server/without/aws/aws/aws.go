// Package aws and those below are as much of AWS's SDK as Temporal's server names, and do nothing.
package aws

import "context"

type Config struct {
	Endpoint, Region *string
	S3ForcePathStyle *bool
	LogLevel         *LogLevelType
}

type (
	LogLevelType uint
	Context      = context.Context
)

func Bool(v bool) *bool       { return &v }
func Int64(v int64) *int64    { return &v }
func String(v string) *string { return &v }
