package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
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

// ImageFormat tells the format of a picture from its bytes: svg, png, pdf, html or vega; "" for any other file. A picture
// that is cut off or that no program could draw is an error. head is its beginning.
func ImageFormat(file string) (format string, head []byte, err error) {
	in, err := os.Open(file)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	if head, err = io.ReadAll(io.NewSectionReader(in, 0, 4096)); err != nil {
		return "", nil, err
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))))
	switch what := http.DetectContentType(head); {
	case what == "image/png":
		format, err = "png", endsIn(in, "IEND\xaeB`\x82")
	case what == "application/pdf":
		format, err = "pdf", endsIn(in, "%%EOF")
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		format = "html"
	case bytes.HasPrefix(text, []byte("<")):
		var is bool
		if is, err = readSVG(in); is {
			format = "svg"
		} else if strings.HasPrefix(what, "text/html") {
			format, err = "html", nil
		}
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte("vega")):
		var spec struct {
			Schema string `json:"$schema"`
		}
		if err = json.NewDecoder(in).Decode(&spec); err != nil || strings.Contains(spec.Schema, "/vega-lite/") {
			format = "vega"
		}
	}
	switch {
	case format == "" || err == nil:
		return format, head, nil
	case strings.HasSuffix(err.Error(), io.ErrUnexpectedEOF.Error()):
		return format, head, fmt.Errorf("it begins as %s and is cut off", strings.ToUpper(format))
	}
	return format, head, fmt.Errorf("it begins as %s, and cannot be drawn: %w", strings.ToUpper(format), err)
}

var xmlEntity = regexp.MustCompile(`<!ENTITY\s+(\S+)\s+"([^"]*)"`)

// readSVG reads XML to its end, and reports whether it is a picture: well-formed and in its namespace, as browsers ask.
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

func endsIn(in io.ReadSeeker, mark string) error {
	_, _ = in.Seek(-1024, io.SeekEnd) // if it has as many
	last, err := io.ReadAll(in)
	if err == nil && !bytes.Contains(last, []byte(mark)) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
