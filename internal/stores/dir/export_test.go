package dir

// OnRename has Replace call a function instead of os.Rename.
func OnRename(do func(from, to string) error) { rename = do }
