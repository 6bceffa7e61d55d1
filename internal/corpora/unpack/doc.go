// Package unpack gives the text of a file that may be compressed, and says what a
// file is that cannot be one: an archive, a web page, the pointer of a large file.
//
// It owns the recognition of formats by their first bytes, the limits of their
// decompression, and the count of the stored bytes that were taken. Formats of our own,
// such as records and corpora, are zstd by definition and have readers of theirs. It must
// not know what the text means.
package unpack
