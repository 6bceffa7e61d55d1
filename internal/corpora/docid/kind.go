package docid

import "slices"

// Kind is a way to assign identifiers, stored by name; models, searches and scores ask its facets, not its name.
type Kind string

const (
	KindAtomic   Kind = "atomic"
	KindNaive    Kind = "naive"
	KindSemantic Kind = "semantic"
	KindResidual Kind = "residual"
	KindTitle    Kind = "title"
	KindKeyword  Kind = "keyword"
	KindOther    Kind = "other" // imported, in tokens of the model
)

// Kinds lists them, the paper's first and in its order.
func Kinds() []Kind {
	return []Kind{KindAtomic, KindNaive, KindSemantic, KindResidual, KindTitle, KindKeyword, KindOther}
}

// OneToken reports whether an identifier is one token, consecutive tokens in document order, all or none with </s> behind
// them. One decoder step then ranks all documents; otherwise beams search.
func (k Kind) OneToken() bool { return k == KindAtomic }

// GrowsVocabulary reports whether identifiers have their own tokens behind the model's; the lowest first token is the first.
func (k Kind) GrowsVocabulary() bool { return k == KindAtomic || k == KindResidual }

// CanBeInvalid reports whether a search over the full vocabulary may find sequences that are no document's identifier.
func (k Kind) CanBeInvalid() bool { return k != KindAtomic && slices.Contains(Kinds(), k) }
