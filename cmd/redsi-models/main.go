// Command redsi-models computes what redsi asks it to: steps that need libtorch, a card or a
// model's tokenizer, and searches. redsi starts it; nobody else does.
package main

import "github.com/redsi/redsi/models"

func main() { models.Main(models.Kinds()...) }
