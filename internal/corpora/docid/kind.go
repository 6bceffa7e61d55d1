package docid

// Kind is a way to make identifiers. It is stored by name; what models, searches and
// scores must know of it are its facets, so that none of them compares names.
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

// facets are how kinds differ for those who use identifiers.
type facets struct {
	oneToken        bool
	growsVocabulary bool
	canBeInvalid    bool
}

var kinds = []struct {
	name Kind
	facets
}{
	{KindAtomic, facets{oneToken: true, growsVocabulary: true}},
	{KindNaive, facets{canBeInvalid: true}},
	{KindSemantic, facets{canBeInvalid: true}},
	{KindResidual, facets{growsVocabulary: true, canBeInvalid: true}},
	{KindTitle, facets{canBeInvalid: true}},
	{KindKeyword, facets{canBeInvalid: true}},
	{KindOther, facets{canBeInvalid: true}},
}

// Kinds lists them, the paper's first and in its order.
func Kinds() []Kind {
	names := make([]Kind, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// facets are those of a kind that Kinds lists; of another one, none.
func (k Kind) facets() facets {
	for _, known := range kinds {
		if known.name == k {
			return known.facets
		}
	}
	return facets{}
}

// OneToken: an identifier is one token, its document's place among consecutive ones; all
// have </s> after it, or none. One decoder step ranks all documents; otherwise beams
// search.
func (k Kind) OneToken() bool { return k.facets().oneToken }

// GrowsVocabulary: identifiers have tokens of their own, which follow the tokens of
// the model. The lowest token that begins an identifier is the first of them.
func (k Kind) GrowsVocabulary() bool { return k.facets().growsVocabulary }

// CanBeInvalid: a search over the whole vocabulary may find sequences that are not a
// document's identifier.
func (k Kind) CanBeInvalid() bool { return k.facets().canBeInvalid }
