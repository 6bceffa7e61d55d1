package docid

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// The stored form is UTF-8 TSV: the header "redsi-docid 1 KIND COUNT", then per document its name, identifier text and
// blank-separated tokens. Names escape backslash, tab, newline and carriage return as \\ \t \n \r. Equal sets give equal
// bytes.
const (
	codecName    = "redsi-docid"
	codecVersion = "1"
	maxLine      = 1 << 20
)

var (
	escape   = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
)

// Write checks the set and writes it.
func (s *Set) Write(w io.Writer) error {
	if !slices.Contains(Kinds(), s.Kind) {
		return fmt.Errorf("identifiers of unknown kind %q", s.Kind)
	}
	if err := s.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\t%s\t%s\t%d\n", codecName, codecVersion, s.Kind, len(s.Identifiers))
	var line []byte
	for _, id := range s.Identifiers {
		line = append(line[:0], escape.Replace(id.Document)...)
		line = append(append(line, '\t'), escape.Replace(id.Text)...)
		separator := byte('\t')
		for _, t := range id.Tokens {
			line = strconv.AppendInt(append(line, separator), int64(t), 10)
			separator = ' '
		}
		if len(line) > maxLine {
			return fmt.Errorf("document %.80q: its line is longer than %d bytes", id.Document, maxLine)
		}
		b.Write(append(line, '\n'))
	}
	return b.Flush()
}

// Read reads a stored set and checks it. Errors name the line.
func Read(r io.Reader) (*Set, error) {
	s, count := &Set{}, uint64(0)
	lines := unpack.WholeLines(r)
	err := lines.Each(func(line []byte) (err error) {
		if lines.Number() == 1 {
			s.Kind, count, err = parseHeader(string(line))
			return err
		}
		id, err := parseIdentifier(string(line))
		s.Identifiers = append(s.Identifiers, id)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("identifiers: %w", err)
	case lines.Number() == 0:
		return nil, fmt.Errorf("identifiers: no header line: %w", io.ErrUnexpectedEOF)
	case uint64(len(s.Identifiers)) != count:
		return nil, fmt.Errorf("identifiers: %d lines, the header says %d; the file was cut or edited", len(s.Identifiers), count)
	}
	return s, s.Check()
}

func parseHeader(line string) (kind Kind, count uint64, err error) {
	header := strings.Split(line, "\t")
	if len(header) != 4 || header[0] != codecName {
		return "", 0, fmt.Errorf("%.80q, want %q, version, kind and count", line, codecName)
	}
	if header[1] != codecVersion {
		return "", 0, fmt.Errorf("version %q of the format; this program reads version %s", header[1], codecVersion)
	}
	if kind = Kind(header[2]); !slices.Contains(Kinds(), kind) {
		return "", 0, fmt.Errorf("unknown kind %q", header[2])
	}
	if count, err = strconv.ParseUint(header[3], 10, 31); err != nil {
		return "", 0, fmt.Errorf("count %q: %w", header[3], err)
	}
	return kind, count, nil
}

func parseIdentifier(line string) (Identifier, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3 {
		return Identifier{}, fmt.Errorf("%d fields, want document, identifier and tokens", len(fields))
	}
	words := strings.Split(fields[2], " ")
	id := Identifier{Document: unescape.Replace(fields[0]), Text: unescape.Replace(fields[1]), Tokens: make([]int32, len(words))}
	for i, word := range words {
		t, err := strconv.ParseInt(word, 10, 32)
		if err != nil || t < 0 || strconv.FormatInt(t, 10) != word {
			return Identifier{}, fmt.Errorf("token %.20q is not a token id", word)
		}
		id.Tokens[i] = int32(t)
	}
	return id, nil
}

// Digest is the hexadecimal SHA-256 of Write's bytes, equal for equal documents with equal identifiers.
func (s *Set) Digest() (string, error) {
	h := sha256.New()
	if err := s.Write(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
