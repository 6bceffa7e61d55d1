// Package aws and those below are as much of AWS's SDK as Temporal's server names, and do nothing.
package aws

import (
	"context"
	"errors"
)

var ErrLeftOut = errors.New("this server was built without AWS")

type (
	Config              struct{ Credentials CredentialsProvider }
	Credentials         struct{ AccessKeyID, SecretAccessKey, SessionToken string }
	CredentialsProvider interface {
		Retrieve(context.Context) (Credentials, error)
	}
	Retryer interface{ IsErrorRetryable(error) bool }
	// LeftOut has no credentials, and tries nothing again.
	LeftOut       struct{}
	ClientLogMode uint64
)

func (LeftOut) Retrieve(context.Context) (Credentials, error) { return Credentials{}, ErrLeftOut }
func (LeftOut) IsErrorRetryable(error) bool                   { return false }

func Int32(v int32) *int32    { return &v }
func String(v string) *string { return &v }
