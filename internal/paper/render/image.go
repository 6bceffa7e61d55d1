package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

// ImageFile is a picture as a step left it.
type ImageFile struct {
	Name   string `json:"name"` // in the step's output
	Digest string `json:"digest"`
}

const svgSpace = "http://www.w3.org/2000/svg"

// ImageFormat tells the format of a picture from its bytes: svg, png, pdf, html or vega; "" if it is
// none. A picture that is cut off or that no program could draw is an error.
func ImageFormat(in io.ReaderAt, size int64) (format string, err error) {
	all := io.NewSectionReader(in, 0, size)
	head, err := io.ReadAll(io.NewSectionReader(in, 0, 4096))
	if err != nil {
		return "", err
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))))
	switch what := http.DetectContentType(head); {
	case what == "image/png":
		format, err = "png", endsIn(in, size, "IEND\xaeB`\x82")
	case what == "application/pdf":
		format, err = "pdf", endsIn(in, size, "%%EOF")
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		format = "html"
	case bytes.HasPrefix(text, []byte("<")):
		var is bool
		if is, err = readSVG(all); is {
			format = "svg"
		} else if strings.HasPrefix(what, "text/html") {
			format, err = "html", nil
		}
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte("vega")):
		var spec struct {
			Schema string `json:"$schema"`
		}
		if err = json.NewDecoder(all).Decode(&spec); err != nil || strings.Contains(spec.Schema, "/vega-lite/") {
			format = "vega"
		}
	}
	switch {
	case format == "" || err == nil:
		return format, nil
	case strings.HasSuffix(err.Error(), io.ErrUnexpectedEOF.Error()):
		return format, fmt.Errorf("it begins as %s and is cut off", strings.ToUpper(format))
	}
	return format, fmt.Errorf("it begins as %s, and cannot be drawn: %w", strings.ToUpper(format), err)
}

var xmlEntity = regexp.MustCompile(`<!ENTITY\s+(\S+)\s+"([^"]*)"`)

// readSVG reads XML to the end of its element and reports whether it is a picture: browsers draw only
// what is well-formed and in its namespace.
func readSVG(r io.Reader) (is bool, err error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = map[string]string{}
	for {
		t, err := d.Token()
		if err != nil {
			return false, err
		}
		switch t := t.(type) {
		case xml.Directive:
			for _, e := range xmlEntity.FindAllStringSubmatch(string(t), -1) {
				d.Entity[e[1]] = e[2]
			}
		case xml.StartElement:
			if t.Name.Local == "svg" && t.Name.Space != svgSpace {
				return true, fmt.Errorf("its first element lacks xmlns=%q", svgSpace)
			}
			return t.Name.Local == "svg", d.Skip()
		}
	}
}

// endsIn checks that the last bytes have the mark of a file that is not cut off.
func endsIn(in io.ReaderAt, size int64, mark string) error {
	last, err := io.ReadAll(io.NewSectionReader(in, max(0, size-1024), 1024))
	if err == nil && !bytes.Contains(last, []byte(mark)) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
