package workflows

import (
	"strings"

	"go.temporal.io/sdk/temporal"
)

// pipelineAttribute is the search attribute by which runs are found in the UI.
var pipelineAttribute = temporal.NewSearchAttributeKeyKeyword("RedsiPipeline")

// SearchAttributes are the names that a server must have, all of type Keyword.
func SearchAttributes() []string { return []string{pipelineAttribute.GetName()} }

// searchable is an address without its quotation marks, step.dedup.nq[url]: the UI would curl those of a summary.
func searchable(address string) string { return Short(strings.ReplaceAll(address, `"`, "")) }
