package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/redsi/redsi/internal/system/filetype"
)

// Limits bound what is read from an untrusted archive.
type Limits struct {
	Entries   int   // files in it
	Directory int64 // bytes of its central directory, which is held in memory
	Size      int64 // bytes of all files, unpacked
	Files     int   // of the project
	File      int64 // bytes of each file of the project, and of the manifest
}

// Usual returns the limits for an archive of size bytes. Unpacked it may be a hundred times as large, plus 1 GiB.
func Usual(size int64) Limits {
	const most = 1 << 62
	l := Limits{Entries: 4_000_000, Directory: 1 << 30, Size: most, Files: 100_000, File: 64 << 20}
	if size < (most-1<<30)/100 {
		l.Size = 100*size + 1<<30
	}
	return l
}

// bad says what is wrong with an entry of an archive, or with the archive itself: entry "".
func bad(entry, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if entry != "" {
		err = fmt.Errorf("%.200q: %w", entry, err)
	}
	return err
}

const (
	endLength   = 22      // of a ZIP's end, without a comment
	endComment  = 1 << 16 // the longest one
	end64Length = 56
	locator64   = 20
)

// directory bounds the central directory before any of it is kept: package zip reads on while the bytes look like one.
func directory(r io.ReaderAt, size int64, l Limits) error {
	tail := make([]byte, min(size, endLength+endComment+locator64))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	signature := []byte("PK\x05\x06")
	at := bytes.LastIndex(tail[:max(0, len(tail)-endLength+len(signature))], signature)
	if at < 0 {
		return bad("", "it is not a ZIP file, or its end is missing: it was truncated")
	}
	end := tail[at:]
	entries, length, begin := uint64(binary.LittleEndian.Uint16(end[10:])), uint64(binary.LittleEndian.Uint32(end[12:])), uint64(binary.LittleEndian.Uint32(end[16:]))
	large := entries == 1<<16-1 || length == 1<<16-1 || length == 1<<32-1 || begin == 1<<32-1 // where package zip looks at the zip64 end, too
	if large && at >= locator64 && binary.LittleEndian.Uint32(tail[at-locator64:]) == 0x07064b50 {
		where := binary.LittleEndian.Uint64(tail[at-locator64+8:])
		if where > uint64(size) || uint64(size)-where < end64Length {
			return bad("", "its table of contents ends outside of the file")
		}
		b := make([]byte, end64Length)
		if _, err := r.ReadAt(b, int64(where)); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(b) == 0x06064b50 {
			entries, length, begin = binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:]), binary.LittleEndian.Uint64(b[48:])
		}
	}
	switch {
	case begin > uint64(size) || length > uint64(size)-begin:
		return bad("", "its table of contents is outside of the file")
	case entries > uint64(l.Entries):
		return bad("", "it has %d files, more than %d", entries, l.Entries)
	case max(length, uint64(size)-begin) > uint64(l.Directory):
		return bad("", "its table of contents has %d bytes, more than %d", max(length, uint64(size)-begin), l.Directory)
	}
	return nil
}

const deflateMost = 1032 // how many bytes one byte of deflate can stand for

// check refuses what no archive needs: links, devices, encryption, impossible sizes, data shared by two entries.
func check(files []*zip.File, size int64, l Limits) error {
	if len(files) > l.Entries {
		return bad("", "it has %d files, more than %d", len(files), l.Entries)
	}
	type span struct {
		from, to int64
		name     string
	}
	var spans []span
	var total uint64
	for _, f := range files {
		mode := f.Mode()
		folder := len(f.Name) > 0 && f.Name[len(f.Name)-1] == '/'
		switch {
		case folder && (f.UncompressedSize64 != 0 || mode.Type()&^fs.ModeDir != 0):
			return bad(f.Name, "a folder with content")
		case !folder && mode.Type() != 0:
			return bad(f.Name, "it is a %s, but an archive may have only regular files", filetype.Name(mode))
		case f.Flags&(1|1<<5|1<<6|1<<13) != 0:
			return bad(f.Name, "it is encrypted, or a patch")
		case f.Method != zip.Store && f.Method != zip.Deflate:
			return bad(f.Name, "it is compressed with method %d, but an archive may have only stored and deflated files", f.Method)
		case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
			return bad(f.Name, "its size is given as %d bytes, but it takes %d", f.UncompressedSize64, f.CompressedSize64)
		case f.CompressedSize64 > uint64(size) || f.UncompressedSize64 > deflateMost*(f.CompressedSize64+1):
			return bad(f.Name, "its size is given as %d bytes, which %d compressed bytes cannot hold", f.UncompressedSize64, f.CompressedSize64)
		}
		total += f.UncompressedSize64 // each is bounded by the file's size
		if total > uint64(l.Size) {
			return bad(f.Name, "with it the archive unpacks to more than %d bytes: if that is intended, allow it with --max-size", l.Size)
		}
		at, err := f.DataOffset()
		if err != nil {
			return bad(f.Name, "it does not start where the table of contents says: %w", err)
		}
		if at < 0 || at > size || uint64(size-at) < f.CompressedSize64 {
			return bad(f.Name, "it is truncated")
		}
		if f.CompressedSize64 > 0 {
			spans = append(spans, span{at, at + int64(f.CompressedSize64), f.Name})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(min(1, max(-1, a.from-b.from))) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return bad(spans[i].name, "it shares its bytes with %.200q", spans[i-1].name)
		}
	}
	return nil
}
