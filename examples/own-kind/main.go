// Command own is redsi with one more kind: all verbs, its worker included, know it.
package main

import (
	"example.org/own-kind/words"

	"github.com/redsi/redsi"
)

func main() { redsi.Main(append(redsi.Kinds(), words.Count)...) }
