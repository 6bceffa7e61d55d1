package lockfile

import "sort"

// Module pins the commit of a module's repository.
type Module struct {
	Source string `json:"source"` // git::URL?ref=REF, without a folder in it
	Commit string `json:"commit"`
	Tree   string `json:"tree"` // digest of the commit's files
}

// Module returns the pin of a module's repository.
func (f *File) Module(source string) (Module, bool) {
	for _, m := range f.Modules {
		if m.Source == source {
			return m, true
		}
	}
	return Module{}, false
}

// PinModule pins a module's repository, replacing an earlier pin, and writes the file.
func PinModule(path string, m Module) error {
	return exclusively(path, func() error {
		f, err := Read(path)
		if err != nil {
			return err
		}
		kept := f.Modules[:0]
		for _, old := range f.Modules {
			if old.Source != m.Source {
				kept = append(kept, old)
			}
		}
		f.Modules = append(kept, m)
		sort.Slice(f.Modules, func(i, j int) bool { return f.Modules[i].Source < f.Modules[j].Source })
		return f.write(path)
	})
}
