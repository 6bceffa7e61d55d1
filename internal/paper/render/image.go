package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
)

// Image says which files a figure is that a step made, by their formats, which are the names of the
// figure's outputs: svg, png, pdf, html, vega.
type Image struct {
	Files map[string]ImageFile `json:"files"`
}

// ImageFile is a picture as a step left it.
type ImageFile struct {
	Name   string `json:"name"` // in the step's output
	Digest string `json:"digest"`
}

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
		return "png", damaged("PNG", endsIn(r, "IEND\xaeB`\x82"))
	case what == "application/pdf":
		return "pdf", damaged("PDF", endsIn(r, "%%EOF"))
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

// endsIn reads to the end, which has the mark in its last bytes unless the file is cut off.
func endsIn(r io.Reader, mark string) error {
	var last []byte
	for b := make([]byte, 32<<10); ; {
		n, err := r.Read(b)
		last = append(last, b[:n]...)
		last = last[max(0, len(last)-1024):]
		switch {
		case err == io.EOF && !bytes.Contains(last, []byte(mark)):
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}
