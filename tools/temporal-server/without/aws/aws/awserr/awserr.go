package awserr

type Error interface {
	error
	Code() string
	OrigErr() error
}

type RequestFailure interface {
	Error
	StatusCode() int
}
