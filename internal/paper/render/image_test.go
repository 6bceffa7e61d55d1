package render

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestImageFormat: bytes decide what is a picture, and what is cut off or cannot be drawn is an error.
func TestImageFormat(t *testing.T) {
	var b bytes.Buffer
	testkit.None(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 90, 90))))
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>`
	for _, c := range []struct{ bytes, format, err string }{
		{b.String(), "png", ""},
		{b.String()[:b.Len()-6], "png", "cut off"},
		{b.String()[:20], "png", "cut off"},
		{svg, "svg", ""},
		{"\ufeff<?xml version='1.0' encoding='iso-8859-1'?>\n<!-- by a program -->\n<!DOCTYPE svg>" + svg, "svg", ""},
		{`<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"/>`, "svg", ""},
		{svg[:len(svg)-8], "svg", "cut off"},
		{"<svg><g/></svg>", "svg", "lacks xmlns"},
		{strings.Replace(svg, "<g/>", "<g>", 1), "svg", "cannot be drawn"},
		{"%PDF-1.4\n1 0 obj\n%%EOF\n", "pdf", ""},
		{"%PDF-1.4\n1 0 obj\n", "pdf", "cut off"},
		{"\n<!doctype HTML><p>", "html", ""},
		{"<!-- plot --><div></div>", "html", ""},
		{`{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": "bar"}`, "vega", ""},
		{`{"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "mark": `, "vega", "cut off"},
		{`{"vega": 1}`, "", ""},
		{`{"accuracy": 0.5}`, "", ""},
		{"<root/>", "", ""},
		{"step,loss\n1,2\n", "", ""},
		{"", "", ""},
	} {
		file := filepath.Join(t.TempDir(), "picture")
		testkit.Write(t, file, c.bytes)
		format, _, err := ImageFormat(file)
		if format != c.format || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%.60q: %q, %v", c.bytes, format, err)
		}
	}
}
