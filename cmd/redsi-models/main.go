// Command redsi-models computes for redsi what needs libtorch, a card or a model's tokenizer:
// steps and searches. Only redsi starts it.
package main

import "github.com/redsi/redsi/kinds/models"

func main() { models.Main(models.Kinds()...) }
