package serialize

import (
	_ "embed"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

//go:embed testdata/t5-alphabet.txt
var t5Alphabet string

// hasUnknown answers as T5's tokenizer does: a piece is <unk> where a character
// is in no piece of the vocabulary (tools/golden/serialize_t5_alphabet.py).
func hasUnknown(s string) bool {
	for _, r := range norm.NFKC.String(s) {
		if !unicode.IsSpace(r) && !strings.ContainsRune(t5Alphabet, r) {
			return true
		}
	}
	return false
}

// bertNormalize stands in for BERT's tokenize and decode on titles of plain words that NQ has already set apart.
func bertNormalize(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

var tools = Tools{HasUnknown: hasUnknown, BertNormalize: bertNormalize}

// tokenize gives text in HTML the tokens that NQ gives it, byte for byte: words, numbers and single signs, none in script
// and style, none in footnote marks. It knows quotation marks and brackets as NQ rewrites them.
func tokenize(source string) []nq.Token {
	var tokens []nq.Token
	opening := true
	for i := 0; i < len(source); {
		switch {
		case strings.HasPrefix(source[i:], "<!--"):
			i += strings.Index(source[i:]+"-->", "-->") + 3
		case source[i] == '<':
			end := strings.IndexByte(source[i:], '>')
			if end < 0 {
				return tokens
			}
			tag := source[i : i+end+1]
			name := strings.FieldsFunc(strings.Trim(tag, "</>"), func(r rune) bool { return unicode.IsSpace(r) })
			if len(name) > 0 && name[0] != "" {
				stored := "<" + strings.ToUpper(name[0][:1]) + strings.ToLower(name[0][1:]) + ">"
				if strings.HasPrefix(tag, "</") {
					stored = "</" + stored[1:]
				}
				if strings.Contains(" h1 h2 h3 p ul ol li dl dt dd table tr th td ", " "+strings.ToLower(name[0])+" ") {
					tokens = append(tokens, nq.Token{Text: stored, HTML: true, Start: int32(i), End: int32(i + end + 1)})
				}
			}
			i += end + 1
			for _, skip := range []string{`<script`, `<style`, `<sup class="reference"`} {
				if strings.HasPrefix(strings.ToLower(tag), skip) {
					closing := "</" + strings.ToLower(name[0])
					if j := strings.Index(strings.ToLower(source[i:]), closing); j >= 0 {
						i += j
					}
				}
			}
		default:
			n := tokenLength(source[i:])
			if text := source[i : i+n]; strings.TrimSpace(html.UnescapeString(text)) != "" {
				stored := text
				switch text {
				case `"`, "&quot;":
					stored = map[bool]string{true: "``", false: "''"}[opening]
					opening = !opening
				case "[":
					stored = "("
				case "]":
					stored = ")"
				case "–", "—":
					stored = "--"
				}
				tokens = append(tokens, nq.Token{Text: stored, Start: int32(i), End: int32(i + n)})
			}
			i += n
		}
	}
	return tokens
}

var entity = regexp.MustCompile(`^&#?\w+;?`)

// tokenLength is the length of the token at the start of s: a run of letters,
// digits and marks, an entity, or one other character.
func tokenLength(s string) int {
	if m := entity.FindString(s); m != "" && html.UnescapeString(m) != m {
		return len(m)
	}
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		n += size
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	return n
}

// page is a record whose document_html is html.
func page(html string) *nq.Record {
	return &nq.Record{ExampleID: 1, Split: nq.Train, Title: "Stored title", HTML: []byte(html), Tokens: tokenize(html)}
}

// article is a record with a title and the given body.
func article(body string) *nq.Record {
	return page("<html><body><h1>T</h1>\n" + body + "</body></html>")
}

func newSerializer(t testing.TB, form Form, change func(*Options)) *Serializer {
	t.Helper()
	o := Defaults()
	if change != nil {
		change(&o)
	}
	s, err := New(form, o, tools)
	testkit.None(t, err)
	return s
}

// released sets every choice that the paper's released code makes against the paper, or besides it.
func released(o *Options) {
	o.NCIContent = true
	o.Gap = "blank"
	o.EmptyItems = "kept"
	o.TableFirst = "key_value"
	o.Footer = "section"
	o.PronunciationSpans = "all"
	o.RemoveIDs, o.RemoveClasses = nil, nil
}

func document(t testing.TB, s *Serializer, r *nq.Record) Text {
	t.Helper()
	text, err := s.Document(r)
	testkit.None(t, err)
	return text
}

// bodyTest is HTML behind the title and the lines that it becomes, all of them, in
// document order. Blank lines are TestBlankLines' matter.
type bodyTest struct {
	name, html, want string
	options          func(*Options)
}

// inOrder keeps all of the lead, in document order: what other rules do shows with little markup.
func inOrder(change func(*Options)) func(*Options) {
	return func(o *Options) {
		o.Lead = "document_order"
		if change != nil {
			change(o)
		}
	}
}

func runBodies(t *testing.T, tests []bodyTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := document(t, newSerializer(t, HtmlNorm, inOrder(tt.options)), article(tt.html))
			lines := func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }
			want := strings.TrimSuffix("T\n"+strings.TrimPrefix(tt.want, "\n"), "\n")
			testkit.Is(t, lines(got.String()), lines(want), got.String(), want)
		})
	}
}
