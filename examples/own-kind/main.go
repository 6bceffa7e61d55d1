// Command own is redsi with two more kinds: all verbs, its worker included, know them.
package main

import (
	"example.org/own-kind/words"

	"github.com/redsi/redsi"
)

func main() { redsi.Main(append(redsi.Kinds(), words.Count, words.Longest)...) }
