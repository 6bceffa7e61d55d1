// Command models is redsi-models with the half of one more kind.
package main

import (
	"example.org/own-kind/words"
	"example.org/own-kind/words/compute"

	"github.com/redsi/redsi/kinds/models"
	"github.com/redsi/redsi/step"
)

func main() { models.Main(step.WithHalves(append(models.Kinds(), words.Longest), compute.Longest)...) }
