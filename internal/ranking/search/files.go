package search

// Files are where a trained model and its collection's identifiers lie. All of them are read while an Engine
// is opened and none afterwards.
type Files struct {
	Model     string // folder: config.json, weights, retrieve.SettingsFile
	Tokenizer string // tokenizer.json, plain or gzip
	IDs       string // docid.Set
}

// Options are how an Engine searches.
type Options struct {
	Beams         int    // of a search, and the most documents of an answer; the paper's 40
	Unconstrained bool   // beams may leave the identifiers of the collection
	Precision     string // of matrix products: "fp32" or "bf16"
	Device        string // "auto": a card if there is one; "cpu", "cuda", "cuda:1"
}
