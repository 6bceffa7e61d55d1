package inout

import (
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/step"
)

// Absent replaces in a report an example that was asked for and is not in the data: the paper's examples
// are not in everybody's files, and nothing else depends on them. Cells that read it show "not in these files".
type Absent struct {
	Why string `json:"absent"`
}

// Example is an example in a report, or an Absent in its place.
type Example[T any] struct {
	Found  T
	Absent *Absent // nil if it is in the data
}

// ExampleOf returns the example v or, with an error, counts it as absent for that reason.
func ExampleOf[T any](x *step.IO, v T, err error) Example[T] {
	if err == nil {
		return Example[T]{Found: v}
	}
	x.Count("examples_not_in_these_files", 1)
	return Example[T]{Absent: &Absent{err.Error()}}
}

// Map applies f to an example that is in the data.
func Map[T, U any](e Example[T], f func(T) U) Example[U] {
	if e.Absent != nil {
		return Example[U]{Absent: e.Absent}
	}
	return Example[U]{Found: f(e.Found)}
}

func (e Example[T]) MarshalJSON() ([]byte, error) {
	var v any = e.Found
	if e.Absent != nil {
		v = e.Absent
	}
	return values.JSON(v, "") // the outer encoder has the say about HTML
}

// JSONFields returns the fields of an example that is in the data.
func (Example[T]) JSONFields() *step.Fields { return step.FieldsOf[T]() }
