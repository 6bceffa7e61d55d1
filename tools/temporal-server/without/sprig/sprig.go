// Package sprig has none of the functions of sprig: they are for files of configuration, which redsi's server has not.
package sprig

func FuncMap() map[string]any { return nil }
