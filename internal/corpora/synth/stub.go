package synth

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A dump's lanes: page i's article at 3i, its talk page, a redirect to it; then filler. Page ids rise with the lane.

func (c Config) pageID(lane int) int {
	return 10 + 5*lane + int(mix(uint64(c.Seed), forStub, uint64(lane))%5)
}

// revisionID is the revision id of a lane's slot, unique, rising with the slot as revisions of a page do.
func (c Config) revisionID(lane, slot int) int {
	stride := min(97, 2*maxOldIDs/(c.lanes()*c.slots()))
	n := slot*c.lanes() + lane
	return 100_000_000 + n*stride + int(mix(uint64(c.Seed), forStub, uint64(lane), uint64(slot))%uint64(stride))
}

// slot returns the place of a revision that records may have among all revisions.
func (p *page) slot(revision int) int {
	return revision + (revision+1)*p.cfg.StubRevisionsPerPage/(p.revisions+1)
}

func (p *page) oldID(revision int) int { return p.cfg.revisionID(3*p.index, p.slot(revision)) }

// Revisions gives the revisions that records may have and the dump has, with their page and its latest title.
func (c Config) Revisions(each func(revision, page int, title string)) {
	p := newPlan(c)
	for i := range c.Pages {
		pg := p.page(i)
		for r := range pg.revisions {
			if !pg.missing(r) {
				each(pg.oldID(r), c.pageID(3*i), pg.titleAt(pg.revisions-1))
			}
		}
	}
}

type stubPage struct {
	lane      int
	title     string
	ns        int
	redirect  string
	revisions int // slots
	skip      int // the slot that the dump lacks, or -1
}

// stubPage returns the page at a lane, false if there is none.
func (p *plan) stubPage(lane int) (stubPage, bool) {
	cfg := p.cfg
	r := newRNG(uint64(cfg.Seed), forStub, uint64(lane), 1)
	s := stubPage{lane: lane, revisions: 1 + cfg.StubRevisionsPerPage, skip: -1}
	if filler := lane - 3*cfg.Pages; filler >= 0 {
		key := keyword(uint64(cfg.Seed), (cfg.Pages+filler)%maxPages)
		s.ns = pick(r, []int{0, 0, 0, 2, 3, 4, 10, 14})
		s.title = namespaces[s.ns] + key + " " + strconv.Itoa(filler)
		if s.ns == 0 && r.chance(30) {
			s.redirect = key + ` "` + name(r) + `" & others`
			s.revisions = 1
		}
		return s, true
	}
	pg := p.page(lane / 3)
	if pg.design == unresolved {
		return s, false
	}
	latest := pg.titleAt(pg.revisions - 1)
	switch lane % 3 {
	case 0:
		s.title = latest
		s.revisions = pg.revisions + cfg.StubRevisionsPerPage
		if pg.design == halfResolved {
			s.skip = pg.slot(pg.revisions - 1)
		}
		return s, true
	case 1:
		s.ns, s.title = 1, namespaces[1]+latest
		return s, r.chance(50)
	}
	s.redirect, s.revisions = latest, 1
	if pg.design == renamed {
		s.title = pg.titleAt(0)
		return s, true
	}
	s.title = "List of " + latest + " (redirect)"
	return s, r.chance(20)
}

// namespaces are title prefixes.
var namespaces = map[int]string{
	0: "", 1: "Talk:", 2: "User:", 3: "User talk:", 4: "Wikipedia:", 10: "Template:", 14: "Category:",
}

const stubHeader = `<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.10/ http://www.mediawiki.org/xml/export-0.10.xsd" version="0.10" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <generator>MediaWiki 1.33.0-wmf.8</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Media</namespace>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="2" case="first-letter">User</namespace>
      <namespace key="3" case="first-letter">User talk</namespace>
      <namespace key="4" case="first-letter">Wikipedia</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
      <namespace key="2303" case="case-sensitive">Gadget definition talk</namespace>
    </namespaces>
  </siteinfo>
`

const stubFooter = "</mediawiki>\n"

// comments are comments of editors, as the dump escapes them; some look like the elements around them.
var comments = []string{
	"rv", "copyedit", "/* History */ typo", "fixed &lt;ref&gt; tags", "&lt;id&gt;12345&lt;/id&gt;",
	"Reverted edits by [[Special:Contributions/10.1.2.3|10.1.2.3]] ([[User talk:10.1.2.3|talk]]) to last version by Bob &amp; Co",
	"&lt;/revision&gt;&lt;/page&gt;", "+ &quot;source&quot; – see talk", "ссылка 😀", "Created page with &quot;{{Infobox\n| name = x\n}}&quot;",
}

// append writes the page as MediaWiki does, and counts it in t.
func (s stubPage) append(b []byte, cfg Config, t *Stub) []byte {
	t.Pages++
	if t.Namespaces == nil {
		t.Namespaces = map[int]int{}
	}
	t.Namespaces[s.ns]++
	b = fmt.Appendf(b, "  <page>\n    <title>%s</title>\n    <ns>%d</ns>\n    <id>%d</id>\n", escapedXML.Replace(s.title), s.ns, cfg.pageID(s.lane))
	if s.redirect != "" {
		t.Redirects++
		b = fmt.Appendf(b, "    <redirect title=\"%s\" />\n", escapedXML.Replace(s.redirect))
	}
	r := newRNG(uint64(cfg.Seed), forStub, uint64(s.lane), 2)
	when := time.Date(2004, 1, 1, 0, 0, r.Below(86400), 0, time.UTC)
	step := int(14 * 365 * 24 * time.Hour / time.Second / time.Duration(s.revisions+1))
	parent := 0
	for slot := range s.revisions {
		when = when.Add(time.Duration(1+r.Below(step)) * time.Second)
		if slot == s.skip {
			continue
		}
		t.Revisions++
		id := cfg.revisionID(s.lane, slot)
		b = appendRevision(b, r, id, parent, when)
		parent = id
	}
	return append(b, "  </page>\n"...)
}

func appendRevision(b []byte, r *rng, id, parent int, when time.Time) []byte {
	b = fmt.Appendf(b, "    <revision>\n      <id>%d</id>\n", id)
	if parent != 0 {
		b = fmt.Appendf(b, "      <parentid>%d</parentid>\n", parent)
	}
	b = fmt.Appendf(b, "      <timestamp>%s</timestamp>\n", when.Format(time.RFC3339))
	switch k := r.Below(50); {
	case k == 0:
		b = append(b, "      <contributor deleted=\"deleted\" />\n"...)
	case k < 15:
		octet := func() int { return 1 + r.Below(250) }
		b = fmt.Appendf(b, "      <contributor>\n        <ip>%d.%d.%d.%d</ip>\n      </contributor>\n", octet(), octet(), octet(), octet())
	default:
		user := pick(r, []string{"Alice", "Bob &amp; Co", "Ünï", "CitationBot", "Example editor"})
		b = fmt.Appendf(b, "      <contributor>\n        <username>%s</username>\n        <id>%d</id>\n      </contributor>\n", user, 1000+r.Below(33_000_000))
	}
	if r.chance(25) {
		b = append(b, "      <minor/>\n"...)
	}
	switch k := r.Below(100); {
	case k == 0:
		b = append(b, "      <comment deleted=\"deleted\" />\n"...)
	case k < 85:
		b = fmt.Appendf(b, "      <comment>%s</comment>\n", pick(r, comments))
	}
	b = append(b, "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"...)
	if r.Below(200) == 0 {
		return append(b, "      <text deleted=\"deleted\" />\n      <sha1/>\n    </revision>\n"...)
	}
	id, bytes := 1+r.Below(870_000_000), r.Below(150_000)
	b = fmt.Appendf(b, "      <text id=\"%d\" bytes=\"%d\" />\n      <sha1>", id, bytes)
	for range 31 {
		b = append(b, "0123456789abcdefghijklmnopqrstuvwxyz"[r.Below(36)])
	}
	return append(b, "</sha1>\n    </revision>\n"...)
}

// escapedXML writes text as a dump has it.
var escapedXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
