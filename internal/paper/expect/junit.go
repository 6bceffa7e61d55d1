package expect

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
)

// The elements and attributes that readers of JUnit's XML agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		ClassName string       `xml:"classname,attr"`
		Failure   *junitResult `xml:"failure"`
		Skipped   *junitResult `xml:"skipped"`
		Out       string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the verdicts as JUnit's XML: a suite for each table and figure with expectations, with a case for each
// number and text, and a suite for the claims. What fails a check is a failure; what has not run or cannot be compared is
// skipped; what is near, or of a lesser severity, passes and says so.
func (j *Judged) JUnit(w io.Writer) error {
	all := junitSuites{Name: "redsi check"}
	add := func(s junitSuite) {
		if s.Tests = len(s.Cases); s.Tests == 0 {
			return
		}
		for _, c := range s.Cases {
			if c.Failure != nil {
				s.Failures++
			}
			if c.Skipped != nil {
				s.Skipped++
			}
		}
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
		all.Suites = append(all.Suites, s)
	}
	for _, it := range j.Items {
		s := junitSuite{Name: it.Address}
		for _, c := range it.Checks {
			name := c.Cell
			if c.Scale != "" {
				name += " at " + c.Scale
			}
			s.Cases = append(s.Cases, junitOf(it.Address, name, c.Verdict, c.Fails(), c.Said(), details(c)))
		}
		add(s)
	}
	s := junitSuite{Name: "claims"}
	for _, c := range j.Claims {
		text := []string{"“" + c.Text + "”"}
		if c.Paper != "" {
			text = append(text, "paper: "+c.Paper)
		}
		for _, k := range c.Checks {
			text = append(text, fmt.Sprintf("%s: %s", k.Verdict, k.Said()))
		}
		if c.Why != "" {
			text = append(text, c.Why)
		}
		text = append(text, "at: "+c.Pos.String())
		s.Cases = append(s.Cases, junitOf("claims", c.Name, c.Verdict, c.Fails(), c.Text, strings.Join(text, "\n")))
	}
	add(s)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(class, name string, v render.Verdict, fails bool, message, text string) junitCase {
	c := junitCase{Name: name, ClassName: class}
	switch {
	case fails:
		c.Failure = &junitResult{string(v), message, text}
	case v == render.Matches || v == render.Holds:
	case v == render.IsNear || v == render.Differs || v == render.Broken:
		c.Out = string(v) + "\n" + text
	default:
		c.Skipped = &junitResult{Type: string(v), Message: message}
	}
	return c
}

func details(c Check) string {
	lines := []string{c.Whose() + ": " + c.PaperSays(), "rebuilt: " + c.RebuiltSays()}
	if !c.Worded() {
		lines = append(lines, fmt.Sprintf("allowed: %v", c.Allowed))
	}
	if c.Source != "" {
		lines = append(lines, "source: "+c.Source)
	}
	return strings.Join(append(lines, "at: "+c.Pos.String()), "\n")
}
