package workflows

import (
	"maps"
	"slices"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
)

const parentAbandon = enums.PARENT_CLOSE_POLICY_ABANDON

// AwaitCancelled is the type of Await's error when the workflow waited for was
// cancelled or terminated, or another version of redsi had started it: its work says nothing about this run's.
const AwaitCancelled = "await-cancelled"

// Search attributes by which runs and steps are found in the UI.
var (
	pipelineAttribute = temporal.NewSearchAttributeKeyKeyword("RedsiPipeline")
	stepAttribute     = temporal.NewSearchAttributeKeyKeyword("RedsiStep")
	keyAttribute      = temporal.NewSearchAttributeKeyKeyword("RedsiKey")
	outcomeAttribute  = temporal.NewSearchAttributeKeyKeyword("RedsiOutcome")
)

// SearchAttributes are the names that a server must have, all of type Keyword.
func SearchAttributes() []string {
	return []string{pipelineAttribute.GetName(), stepAttribute.GetName(), keyAttribute.GetName(), outcomeAttribute.GetName()}
}

// searchable is an address without its quotation marks, step.dedup.nq[url], as
// RedsiStep has it: servers that keep visibility in SQL, the embedded one among
// them, find no value that has any, and the UI would curl those of a summary.
func searchable(address string) string { return Short(strings.ReplaceAll(address, `"`, "")) }

// sortedKeys are a map's keys in one order in every replay.
func sortedKeys[V any](of map[string]V) []string { return slices.Sorted(maps.Keys(of)) }
