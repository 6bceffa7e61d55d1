// Package corpora has in its folder all that is known of documents and questions
// before anything ranks them: datasets as they are downloaded (fetch, unpack, nq,
// wikipedia, collect, synth), rules of deduplication (dedup), articles as text
// (serialize, corpus), identifiers (docid, tokenize), overlap of splits (overlap,
// nq320k), formats (qrels, trec, export, safetensors), and Python's rules of texts (pytext).
//
// It imports internal/system and libraries: neither step, artifacts nor Temporal,
// so that each package can be used and tested by files and values alone.
//
// Begin with nq, whose records all others follow, then dedup and serialize.
package corpora
