package step

import "reflect"

// CodeFiles are the files beside the pipeline file that a step stands in.
type CodeFiles interface {
	// Read returns a file by its name, relative to the folder; false if there is none.
	Read(name string) (text []byte, ok bool, err error)
	// List lists the files whose names match a pattern, sorted; hidden ones only where the
	// pattern says so.
	List(pattern string) ([]string, error)
	// Folder is where they are on this machine; "" if that is not known.
	Folder() string
	// Once calls make once for an id while the pipeline is loaded.
	Once(id string, make func() (any, error)) (any, error)
}

// HasCode reports whether a kind takes its code from files beside the pipeline.
func (s *Spec) HasCode() bool { return s.Kind.Code != nil }

// WithCode fills in a tree what the kind's Code does. What is wrong with the tree otherwise
// is for Complete to say.
func (s *Spec) WithCode(tree map[string]any, files CodeFiles) error {
	if s.Kind.Code == nil {
		return nil
	}
	v := reflect.New(s.configType).Elem()
	v.Set(s.defaults)
	_ = decodeObject(tree, v, s.Attrs, "")
	c, err := s.Kind.Code(v.Interface(), files)
	if err != nil {
		return err
	}
	var filled []Attr
	for _, a := range s.Attrs {
		if tree[a.Name] == nil && !a.Type.HasInput() {
			filled = append(filled, a)
		}
	}
	for name, value := range encodeObject(reflect.ValueOf(c), s.defaults, filled, false) {
		tree[name] = value
	}
	return nil
}
