package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

// Image says which files a figure is that a step made, by their formats.
type Image struct {
	Files map[string]ImageFile `json:"files"`
}

// ImageFile is a picture as a step left it.
type ImageFile struct {
	Name   string `json:"name"` // in the step's output
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// ImageFormats are the formats of pictures, which are the names of a figure's outputs.
var ImageFormats = []string{"svg", "png", "pdf", "html", "vega"}

// WhatIsDrawn names the formats for people.
const WhatIsDrawn = "PNG, SVG, PDF, HTML and Vega-Lite JSON are taken"

// imageHead is how much of a file says what it is.
const imageHead = 4096

// mostSpec bounds a Vega-Lite specification with its data.
const mostSpec = 64 << 20

const svgSpace = "http://www.w3.org/2000/svg"

// ImageFormat tells the format of a picture from its bytes; "" if it is not one. A picture that is
// cut off or that no program could draw is an error.
func ImageFormat(in io.Reader) (string, error) {
	r := bufio.NewReaderSize(in, imageHead)
	head, err := r.Peek(imageHead)
	if err != nil && err != io.EOF {
		return "", err
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff"))))
	switch what := http.DetectContentType(head); {
	case what == "image/png":
		end := &lastBytes{}
		_, err := png.DecodeConfig(io.TeeReader(r, end))
		if err == nil {
			_, err = io.Copy(end, r)
		}
		if err == nil && !bytes.Contains(end.b, []byte("IEND\xaeB`\x82")) {
			err = io.ErrUnexpectedEOF
		}
		return "png", damaged("PNG", err)
	case what == "application/pdf":
		end := &lastBytes{}
		_, err := io.Copy(end, r)
		if err == nil && !bytes.Contains(end.b, []byte("%%EOF")) {
			err = io.ErrUnexpectedEOF
		}
		return "pdf", damaged("PDF", err)
	case bytes.HasPrefix(text, []byte("<!doctype html")), bytes.HasPrefix(text, []byte("<html")):
		return "html", nil
	case bytes.HasPrefix(text, []byte("<")):
		is, err := readSVG(r)
		if !is && strings.HasPrefix(what, "text/html") {
			return "html", nil
		}
		if !is {
			return "", nil
		}
		return "svg", damaged("SVG", err)
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(text, []byte("vega")):
		var spec struct {
			Schema string `json:"$schema"`
		}
		err := json.NewDecoder(io.LimitReader(r, mostSpec)).Decode(&spec)
		if err == nil && !strings.Contains(spec.Schema, "/vega-lite/") {
			return "", nil
		}
		return "vega", damaged("Vega-Lite", err)
	}
	return "", nil
}

// damaged is the error for a picture that cannot be drawn.
func damaged(format string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("it begins as %s and is cut off", format)
	}
	if err != nil {
		return fmt.Errorf("it begins as %s, and cannot be drawn: %w", format, err)
	}
	return nil
}

var xmlEntity = regexp.MustCompile(`<!ENTITY\s+(\S+)\s+"([^"]*)"`)

// readSVG reads XML to its end and reports whether it is a picture: browsers draw only what is
// well-formed and in its namespace.
func readSVG(r io.Reader) (is bool, err error) {
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	d.Entity = map[string]string{}
	for {
		t, err := d.Token()
		var cut *xml.SyntaxError
		switch {
		case err == io.EOF:
			return is, nil
		case errors.As(err, &cut) && cut.Msg == "unexpected EOF":
			return is, io.ErrUnexpectedEOF
		case err != nil:
			return is, err
		}
		switch t := t.(type) {
		case xml.Directive:
			for _, e := range xmlEntity.FindAllStringSubmatch(string(t), -1) {
				d.Entity[e[1]] = e[2]
			}
		case xml.StartElement:
			if is {
				break
			}
			if t.Name.Local != "svg" {
				return false, nil
			}
			if is = true; t.Name.Space != svgSpace {
				return true, fmt.Errorf("its first element lacks xmlns=%q", svgSpace)
			}
		}
	}
}

// lastBytes keeps the end of what is written.
type lastBytes struct{ b []byte }

func (l *lastBytes) Write(b []byte) (int, error) {
	l.b = append(l.b, b[max(0, len(b)-1024):]...)
	l.b = l.b[max(0, len(l.b)-1024):]
	return len(b), nil
}
