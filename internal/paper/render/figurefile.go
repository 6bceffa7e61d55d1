package render

import (
	"bytes"
	"cmp"
	"image/color"
	"io"
	"regexp"
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	fixedpoint "golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/redsi/redsi/internal/system/escape"
)

const pngDPI = 220 // the resolution of PNG files, in dots per inch

// size returns the picture's size; text decides the height of panels and flows.
func (f *Figure) size() (w, h vg.Length) {
	w = vg.Length(f.Width) * vg.Centimeter
	switch {
	case len(f.Panels) > 0:
		_, _, h = f.panelLayout()
	case len(f.Flow) > 0:
		h = f.flowHeight()
	case f.Height > 0:
		h = vg.Length(f.Height) * vg.Centimeter
	default:
		h = 0.72 * w
	}
	return w, h
}

func (f *Figure) draw(cs vg.CanvasSizer) error {
	c := draw.New(cs)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	switch {
	case len(f.Panels) > 0:
		f.drawPanels(c)
	case len(f.Flow) > 0:
		f.drawFlow(c)
	default:
		return f.drawPlot(c)
	}
	return nil
}

var svgFonts = regexp.MustCompile(`font-family:Liberation (Sans|Mono);`)

// SVG writes the picture with its text, in the Liberation fonts or others of the same widths.
func (f *Figure) SVG(w io.Writer) error {
	c := &svgCanvas{vgsvg.NewWith(vgsvg.UseWH(f.size()))}
	if err := f.draw(c); err != nil {
		return err
	}
	return rewritten(w, c, svgFonts, func(m []byte) []byte {
		if bytes.Contains(m, []byte("Mono")) {
			return []byte("white-space:pre;font-family:'Liberation Mono','Courier New',monospace;")
		}
		return []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	})
}

func rewritten(w io.Writer, file io.WriterTo, find *regexp.Regexp, as func([]byte) []byte) error {
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(find.ReplaceAllFunc(b.Bytes(), as))
	return err
}

// svgCanvas writes control characters, which XML does not have, as escapes.
type svgCanvas struct{ *vgsvg.Canvas }

func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	c.Canvas.FillString(f, pt, escape.Controls(s))
}

// PNG writes the picture in pixels.
func (f *Figure) PNG(w io.Writer) error {
	width, height := f.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	if err := f.draw(&pngCanvas{c}); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// pngCanvas draws boxes for characters that the font lacks, which would leave no trace.
type pngCanvas struct{ *vgimg.Canvas }

func (c *pngCanvas) FillString(f font.Face, pt vg.Point, s string) {
	var buf sfnt.Buffer
	c.Canvas.FillString(f, pt, strings.Map(func(r rune) rune {
		if glyph, err := f.Face.GlyphIndex(&buf, r); err != nil || glyph == 0 {
			return '□'
		}
		return r
	}, s))
}

var pdfDate = regexp.MustCompile(`/(Creation|Mod)Date \(D:\d{14}`)

// sortPDF makes the PDF library write its fonts in one order: documents of the plot library have no other switch.
var sortPDF sync.Once

// PDF writes the picture with embedded fonts, and dates of the epoch: equal figures are equal bytes.
func (f *Figure) PDF(w io.Writer) error {
	sortPDF.Do(func() { fpdf.SetDefaultCatalogSort(true) })
	c := &pdfCanvas{Canvas: vgpdf.New(f.size())}
	if err := f.draw(c); err != nil {
		return err
	}
	return rewritten(w, c, pdfDate, func(m []byte) []byte {
		return append(m[:len(m)-14:len(m)-14], "19700101000000"...) // as long: offsets hold
	})
}

// pdfCanvas draws as outlines the texts that the PDF library cannot write: bold, a second font, whose widths it mixes up
// with the first, and characters outside of its code page, such as IPA.
type pdfCanvas struct {
	*vgpdf.Canvas
	first font.Variant // the font that is written as text
}

func (c *pdfCanvas) FillString(f font.Face, pt vg.Point, s string) {
	c.first = cmp.Or(c.first, f.Font.Variant)
	plain := f.Font.Weight == 0 && f.Font.Variant == c.first
	for _, r := range s {
		plain = plain && (r >= ' ' && r < 0x7f || r >= 0xa0 && r < 0x100)
	}
	if plain {
		c.Canvas.FillString(f, pt, s)
		return
	}
	var buf sfnt.Buffer
	for _, r := range s {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if outline := outline(&buf, f, glyph, pt); len(outline) > 0 {
			c.Fill(outline)
		}
		pt.X += f.Width(string(r))
	}
}

// SetColor sets the color of what is drawn next. Go's colors are multiplied by alpha, and PDF multiplies by it once more.
func (c *pdfCanvas) SetColor(to color.Color) {
	c.Canvas.SetColor(color.RGBA(color.NRGBAModel.Convert(to).(color.NRGBA)))
}

func outline(buf *sfnt.Buffer, f font.Face, glyph sfnt.GlyphIndex, pt vg.Point) vg.Path {
	const em = 1000 // pixels that outlines are asked for at
	segments, err := f.Face.LoadGlyph(buf, glyph, fixedpoint.I(em), nil)
	if err != nil {
		return nil
	}
	scale := f.Font.Size / em / 64
	at := func(p fixedpoint.Point26_6) vg.Point {
		return vg.Point{X: pt.X + vg.Length(p.X)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
	}
	var p vg.Path
	for i, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo && i > 0 {
			p.Close()
		}
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			p.Move(at(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.Line(at(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	if len(p) > 0 {
		p.Close()
	}
	return p
}
