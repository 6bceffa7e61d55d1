package wikipedia

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// OldID returns the revision id of a URL as NQ stores it, HTML-escaped: "…&amp;oldid=828222625".
func OldID(stored string) (uint64, error) {
	values := parameter(stored, "oldid")
	if len(values) == 0 {
		return 0, fmt.Errorf("the URL has no oldid: %q", stored)
	}
	if len(values) > 1 {
		return 0, fmt.Errorf("the URL has several oldids: %q", stored)
	}
	id, err := strconv.ParseUint(values[0], 10, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("oldid is not a positive number: %q", stored)
	}
	return id, nil
}

// QueryTitle returns the title in a stored URL's query: HTML-unescaped, "+" as blank, percent-decoded (a bad escape
// stays). It reports false without a title.
func QueryTitle(stored string) (string, bool) {
	values := parameter(stored, "title")
	if len(values) == 0 || values[0] == "" {
		return "", false
	}
	return unquote(strings.ReplaceAll(values[0], "+", " ")), true
}

// URLTitle returns a stored URL's title as people write it: QueryTitle percent-decoded a second time, underscores as blanks.
// It reports false without a title.
func URLTitle(stored string) (string, bool) {
	title, ok := QueryTitle(stored)
	return strings.ReplaceAll(unquote(title), "_", " "), ok
}

// parameter lists the raw values of a query parameter. Only "&" separates parameters: titles contain ";".
func parameter(stored, name string) []string {
	_, query, _ := strings.Cut(html.UnescapeString(stored), "?")
	query, _, _ = strings.Cut(query, "#")
	var values []string
	for pair := range strings.SplitSeq(query, "&") {
		if k, v, _ := strings.Cut(pair, "="); k == name {
			values = append(values, v)
		}
	}
	return values
}

// unquote is Python's urllib.parse.unquote: bytes that are not UTF-8 after decoding become U+FFFD.
func unquote(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string([]rune(string(b)))
}
