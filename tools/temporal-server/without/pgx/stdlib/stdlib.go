package stdlib

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

// Driver is also its only connector.
type Driver struct{}

func (d Driver) Open(string) (driver.Conn, error)             { return nil, pgx.ErrLeftOut }
func (d Driver) Connect(context.Context) (driver.Conn, error) { return nil, pgx.ErrLeftOut }
func (d Driver) Driver() driver.Driver                        { return d }

func GetDefaultDriver() driver.Driver                               { return Driver{} }
func GetConnector(pgx.ConnConfig, ...any) driver.Connector          { return Driver{} }
func OptionAfterConnect(func(context.Context, *pgx.Conn) error) any { return nil }
