// Package corpora is the folder of the packages about documents and questions before anything ranks them: datasets as
// downloaded (fetch, unpack, nq, wikipedia, collect, synth), rules of deduplication (dedup), articles as text (serialize,
// corpus), identifiers (docid, tokenize), overlap of splits (overlap, nq320k), formats (trec, export, safetensors), and
// Python's rules of texts (pytext).
//
// They import internal/system and libraries: neither step, artifacts nor Temporal, so that each package can be used and
// tested with only files and values. Begin with nq, then dedup and serialize.
package corpora
