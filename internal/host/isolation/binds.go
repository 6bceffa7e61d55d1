package isolation

import "fmt"

// Bind is a file that a program sees, read-only, in the place of another.
type Bind struct {
	From string // the file
	To   string // an empty file in the program's folder
}

// BindError says that binds could not be mounted here. The program has not begun, and can with copies in their places.
type BindError struct{ Err error }

func (e *BindError) Error() string {
	return fmt.Sprintf("show the program its inputs where they are: %v", e.Err)
}

func (e *BindError) Unwrap() error { return e.Err }
