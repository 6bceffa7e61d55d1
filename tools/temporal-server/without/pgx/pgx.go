// Package pgx and those below are as much of this driver of PostgreSQL as Temporal's server names, and open nothing.
package pgx

import "errors"

var ErrLeftOut = errors.New("this server was built without PostgreSQL")

type (
	Conn       struct{}
	ConnConfig struct{}
	TypeMap    struct{}
)

func ParseConfig(string) (*ConnConfig, error)     { return nil, ErrLeftOut }
func (*Conn) TypeMap() TypeMap                    { return TypeMap{} }
func (TypeMap) RegisterDefaultPgType(any, string) {}
