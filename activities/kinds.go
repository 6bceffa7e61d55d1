package activities

import "github.com/redsi/redsi/internal/step"

// Kinds lists every step kind that this build knows, in the order in which data
// flows through them. Parts of a kind follow it.
func Kinds() *step.Registry {
	return step.NewRegistry(
		downloadKind, downloadFileKind,
		synthKind,
		extractKind, extractFileKind,
		pagesKind, pagesFileKind,
		pageTableKind,
		dedupKind, diagnoseKind,
		serializeKind, serializeFileKind,
		substitutionsKind, variationKind, prefixesKind,
		fieldsKind, formatExampleKind, compareKind, excerptsKind,
		exportKind,
		embedHashingKind, embedKind,
		atomicIDsKind, naiveIDsKind, semanticIDsKind, tokensKind,
		randomT5Kind, trainKind, evaluateKind, evaluateShardKind,
		effectsKind,
		commandKind,
		tableKind, figureKind,
	)
}
