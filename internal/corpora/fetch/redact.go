package fetch

import (
	"net/url"
	"regexp"
	"strings"
)

const hidden = "…"

var (
	userInfo = regexp.MustCompile(`(://)[^/?#"]*@`)
	queryArg = regexp.MustCompile(`([?&;])([^?&;=\s"']+)=([^&;\s"'#]+)`)

	// secretArg matches names of query arguments that grant access: signed URLs of S3, Google, Azure and CDNs, tokens,
	// keys. Hiding one too many loses nothing that matters.
	secretArg = regexp.MustCompile(`token|sig|secret|key|passw|pwd|auth|credential|session|jwt|^x-(amz|goog|ms)-|^(code|policy)$`)
)

// Redact returns a text, such as a source or an error about a source, for printing: its URLs lose passwords and the
// values of arguments that grant access.
func Redact(text string) string {
	text = userInfo.ReplaceAllString(text, "${1}"+hidden+"@")
	return queryArg.ReplaceAllStringFunc(text, func(arg string) string {
		m := queryArg.FindStringSubmatch(arg)
		name, err := url.QueryUnescape(m[2])
		if err != nil || secretArg.MatchString(strings.ToLower(name)) {
			return m[1] + m[2] + "=" + hidden
		}
		return arg
	})
}

// redacted is an error whose text may quote a URL.
type redacted struct{ error }

func (r redacted) Error() string { return Redact(r.error.Error()) }

func (r redacted) Unwrap() error { return r.error }
