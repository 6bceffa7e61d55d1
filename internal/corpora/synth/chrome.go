package synth

import (
	"strconv"
	"strings"
	"sync"
)

// maxChrome bounds the style sheets at the head of a page.
const maxChrome = 60_000

// chromeCSS is the style sheet that all pages share, as the head of a real page
// is nearly the same everywhere; a page takes as much of it as it has room for.
var chromeCSS = sync.OnceValue(func() string {
	r := &rng{mix(forChrome)}
	properties := strings.Fields("margin padding width height top left right bottom font-size line-height border-radius")
	var b strings.Builder
	for b.Len() < maxChrome {
		b.WriteString("." + pick(r, nouns) + "-" + pick(r, nouns) + " ." + pick(r, adjectives) + "{")
		for range 2 + r.n(5) {
			b.WriteString(pick(r, properties) + ":" + strconv.Itoa(r.n(400)) + "px;")
		}
		b.WriteString("background-image:url(\"data:image/png;base64,")
		for range r.n(60) {
			b.WriteByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[r.n(64)])
		}
		b.WriteString("\");content:'\\201c'}\n")
	}
	return b.String()[:maxChrome]
})
