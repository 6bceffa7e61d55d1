// Command redsi declares, plans and runs reproducible pipelines.
package main

import "github.com/redsi/redsi"

func main() { redsi.Main(redsi.Kinds()...) }
