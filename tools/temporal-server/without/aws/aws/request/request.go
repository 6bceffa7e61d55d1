package request

func IsErrorRetryable(error) bool { return false }
func IsErrorThrottle(error) bool  { return false }
