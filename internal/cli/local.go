package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/shellwords"
)

// settings says in words what the settings set for the running verb; "": nothing.
func (a *app) settings() string {
	l, flags := &a.Local, a.cmd.Flags()
	words := slices.Clone(l.Vars)
	for _, name := range slices.Sorted(maps.Keys(l.Flags)) {
		words = append(words, "--"+name+" "+shellwords.Quote(flags.Lookup(name).Value.String()))
	}
	if flags.Lookup("from") != nil { // else the verb reads no other stores
		for _, address := range l.From {
			words = append(words, "--from "+shellwords.Quote(l.Beside(address)))
		}
		if l.RequireFrom {
			words = append(words, "--require-from")
		}
		if l.Untrusted != "" && !flags.Changed("untrusted") {
			words = append(words, "--untrusted "+l.Untrusted)
		}
	}
	if len(words) == 0 {
		return ""
	}
	from := l.File
	if a.Profile != "" {
		from += ", profile " + a.Profile + ","
	}
	return from + " sets " + strings.Join(words, ", ")
}

// sayLocal says what the settings set for a plan or run.
func (a *app) sayLocal() {
	if a.Local.File == "" {
		return
	}
	if text := a.settings(); text != "" {
		a.Say(text)
	}
}
