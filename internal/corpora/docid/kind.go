package docid

import "slices"

// Kind is a way to make identifiers, stored by name; models, searches and scores ask its facets, not its name.
type Kind string

const (
	KindAtomic   Kind = "atomic"
	KindNaive    Kind = "naive"
	KindSemantic Kind = "semantic"
	KindResidual Kind = "residual"
	KindTitle    Kind = "title"
	KindKeyword  Kind = "keyword"
	KindOther    Kind = "other" // made elsewhere, in tokens that the model has
)

// Kinds lists them, the paper's first and in its order.
func Kinds() []Kind {
	return []Kind{KindAtomic, KindNaive, KindSemantic, KindResidual, KindTitle, KindKeyword, KindOther}
}

// OneToken: an identifier is one token, its document's place among consecutive ones, and all or none have </s> behind it.
// One decoder step then ranks all documents; otherwise beams search.
func (k Kind) OneToken() bool { return k == KindAtomic }

// GrowsVocabulary: identifiers have tokens of their own behind the model's; the lowest first token is their first.
func (k Kind) GrowsVocabulary() bool { return k == KindAtomic || k == KindResidual }

// CanBeInvalid: a search over the whole vocabulary may find sequences that are not a document's identifier.
func (k Kind) CanBeInvalid() bool { return k != KindAtomic && slices.Contains(Kinds(), k) }
