package pgconn

type PgError struct {
	error
	Code, Message string
}
