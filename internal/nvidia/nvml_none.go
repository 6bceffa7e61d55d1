//go:build !linux || !cgo

package nvidia

// Look finds no cards: this build cannot ask for them.
func Look() Machine { return Machine{Why: "this build does not ask for cards"} }

// Visible finds none, either.
func Visible() Process { return Process{Why: "this build does not ask for cards"} }
