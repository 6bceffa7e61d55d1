// Package unpack reads the text of a file that may be compressed, and recognises files without text: an archive, a web page,
// the pointer of a large file.
//
// It owns the recognition of formats by their first bytes, the limits of their decompression, and the count of stored bytes
// read. Our own formats, such as records and corpora, are always zstd and have their own readers. It must not know what the
// text means.
package unpack
