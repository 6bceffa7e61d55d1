package values

import "reflect"

// Add adds the numbers of more to the numbers of to, field by field and key by key, so that no new count is forgotten.
// Texts, truth values and lists stay as they are.
func Add[T any](to *T, more T) { add(reflect.ValueOf(to).Elem(), reflect.ValueOf(more)) }

func add(to, more reflect.Value) {
	switch {
	case !to.CanSet():
	case to.CanInt():
		to.SetInt(to.Int() + more.Int())
	case to.CanFloat():
		to.SetFloat(to.Float() + more.Float())
	case to.Kind() == reflect.Struct:
		for i := range to.NumField() {
			add(to.Field(i), more.Field(i))
		}
	case to.Kind() == reflect.Pointer && !more.IsNil():
		if to.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
		}
		add(to.Elem(), more.Elem())
	case to.Kind() == reflect.Map && !more.IsNil():
		if to.IsNil() {
			to.Set(reflect.MakeMap(to.Type()))
		}
		for key, n := range more.Seq2() {
			sum := reflect.New(to.Type().Elem()).Elem()
			if have := to.MapIndex(key); have.IsValid() {
				sum.Set(have)
			}
			add(sum, n)
			to.SetMapIndex(key, sum)
		}
	}
}
