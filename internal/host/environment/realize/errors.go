package realize

import (
	"errors"
	"fmt"
	"regexp"
	"syscall"
)

// Error says why there is no environment.
type Error struct {
	Name    string // of the environment
	Passing bool   // another try may succeed
	Err     error
}

func (e *Error) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func fail(w Wanted, passing bool, format string, args ...any) error {
	return &Error{w.Name, passing, fmt.Errorf(format, args...)}
}

var (
	noSpace   = regexp.MustCompile(`(?i)no space left|disk quota exceeded|os error (28|122)\b`)
	noNetwork = regexp.MustCompile(`(?i)dns error|name resolution|failed to (fetch|download)|could not (connect|resolve)|connection (refused|reset|error)|network is unreachable|error sending request|retries exceeded|NewConnectionError|timed out|CondaHTTPError|unable to download|from versions: none`)
)

// failed says what to do about an error of building an environment.
func failed(w Wanted, err error) error {
	switch _, ok := errors.AsType[*Error](err); {
	case ok:
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || noSpace.MatchString(err.Error()):
		return fail(w, false, "there is no space for it: %w\nfree some, remove others by redsi env rm --unused 30d, or name another folder with %s; nothing unfinished was left", err, Variable)
	case noNetwork.MatchString(err.Error()):
		return fail(w, true, "the packages of %s could not be fetched: %w\nlet this machine reach where the lock takes them from, or make the environment (redsi env path) where it can and share the folder, named by %s", w.Recipe.Lock, err, Variable)
	}
	return fail(w, false, "%w", err)
}
