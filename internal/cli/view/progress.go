package view

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"

	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/system/escape"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// Live shows a run in progress. On a terminal it keeps a block of running steps below the lines of finished steps; elsewhere it
// prints a line whenever a step begins or ends, and the progress of running steps now and then.
type Live struct {
	w     *Screen
	st    Style
	width int // 0 without a terminal

	seen     map[string]runs.Status
	said     map[string]time.Time
	began    map[string]time.Time // start of work, not of queueing
	now      time.Time
	spoke    time.Time // when the last line was printed
	waitsFor string    // as printed
	resume   bool      // the first state: hits are counted, not listed, as are many at once later
}

// NewLive makes a view that writes to w; width is the terminal's, 0 without one.
func NewLive(w *Screen, st Style, width int) *Live {
	return &Live{w: w, st: st, width: width, seen: map[string]runs.Status{}, said: map[string]time.Time{}, began: map[string]time.Time{}, resume: true}
}

// progressEvery is how often the progress of a step or the run is printed without a terminal.
const progressEvery = 15 * time.Second

// Update shows a new state. work has the running steps by address; waitsFor is what the run waits for, "": nothing.
func (l *Live) Update(s workflows.State, work map[string]drive.Work, waitsFor string, now time.Time) {
	if l.now = now; l.spoke.IsZero() {
		l.spoke = now
	}
	var news bytes.Buffer
	l.news(&news, s, work)
	if l.width > 0 { // first, so that it has no finished steps
		l.w.Show(l.block(s, work, waitsFor))
	}
	if news.Len() > 0 {
		_, _ = l.w.Write(news.Bytes())
	}
	if l.width == 0 {
		l.murmur(s, work, waitsFor)
	}
}

func (l *Live) Close() { l.w.Show(nil) }

type cause struct {
	status runs.Status
	why    string
}

func (l *Live) news(w io.Writer, s workflows.State, work map[string]drive.Work) {
	var hits []workflows.StepState
	var causes []cause
	of := map[cause][]string{}
	for _, x := range s.Steps {
		if x.Status == runs.Running {
			l.atWork(x.Address, work[x.Address].Began)
		}
		if l.seen[x.Address] == x.Status {
			continue
		}
		l.seen[x.Address] = x.Status
		switch x.Status {
		case runs.Queued:
			delete(l.began, x.Address) // its worker may have been lost
		case runs.Running:
			if l.width == 0 {
				l.line(w, "run", "RUN", x.Address, "")
			}
		case runs.Ran:
			l.line(w, "ran", "DONE", x.Address, words.Took(x.TookS))
		case runs.Failed, runs.Skipped, runs.Cancelled, runs.NotStarted:
			c := cause{x.Status, x.Error}
			if len(of[c]) == 0 {
				causes = append(causes, c)
			}
			of[c] = append(of[c], x.Address)
		case runs.Hit:
			hits = append(hits, x)
		}
	}
	if l.resume && len(hits) > 0 || len(hits) > stepsNamed {
		Printf(w, "%s  %s already done\n", l.st.Outcome("hit", "HIT"), Count(len(hits), "step"))
		hits = nil
	}
	for _, x := range hits {
		l.line(w, "hit", "HIT", x.Address, words.Took(x.TookS)+" when it ran")
	}
	for _, c := range causes {
		l.together(w, c, of[c])
	}
	if len(s.Steps) > 0 {
		l.resume = false
	}
}

// atWork records when a step began to run, perhaps by the server, whose clock may differ.
func (l *Live) atWork(address string, began time.Time) {
	if began.IsZero() || began.After(l.now) {
		began = l.now
	}
	if at, ok := l.began[address]; !ok || began.Before(at) {
		l.began[address] = began
	}
}

// stepsNamed is how many steps with one cause are named.
const stepsNamed = 5

func (l *Live) together(w io.Writer, c cause, steps []string) {
	word := cmp.Or(map[runs.Status]string{runs.Failed: "FAIL", runs.Cancelled: "STOP"}[c.status], "SKIP")
	who := words.And(steps, stepsNamed)
	if len(steps) > 1 && word == "SKIP" {
		who = fmt.Sprintf("%d steps not started", len(steps))
	}
	if len(steps) > 1 && c.status == runs.Skipped {
		c.why = "each " + c.why
	}
	l.line(w, string(c.status), word, who, c.why)
}

func (l *Live) line(w io.Writer, outcome, word, address, note string) {
	l.spoke = l.now
	Printf(w, "%s  %s  %s\n", l.st.Outcome(outcome, word), address, l.st.DimLines(note))
}

// block is the running steps, what the run waits for, and the count of what is left.
func (l *Live) block(s workflows.State, work map[string]drive.Work, waitsFor string) []Shown {
	columns := l.width - 1 // a terminal may wrap after its last column
	var lines []Shown
	for _, a := range words.First(running(s), rowsShown, func(n int) { lines = append(lines, Document(fmt.Sprintf("       … and %d more", n))) }) {
		lines = append(lines, l.row(a, work[a].Progress, columns))
	}
	if waitsFor != "" {
		lines = append(lines, Shown{l.mark(columns).text + escape.Line(waitsFor)})
	}
	if len(s.Steps) > 0 {
		lines = append(lines, l.st.Dim(firstFit(columns, sums(s)...)))
	}
	for i, t := range lines {
		lines[i] = fit(t, columns)
	}
	return lines
}

func running(s workflows.State) []string {
	steps := lists.Filter(s.Steps, func(x workflows.StepState) bool { return x.Status == runs.Running })
	return lists.Map(steps, func(x workflows.StepState) string { return x.Address })
}

// sums count the steps that are not done, in ever shorter forms.
func sums(s workflows.State) []string {
	n := map[runs.Status]int{}
	for _, x := range s.Steps {
		n[x.Status]++
	}
	text := fmt.Sprintf("%d running", n[runs.Running])
	if n[runs.Queued] > 0 {
		text += fmt.Sprintf(", %d queued", n[runs.Queued])
	}
	left := fmt.Sprintf("%s, %d to do", text, n[runs.Waiting])
	return []string{fmt.Sprintf("       %s of %d", left, len(s.Steps)), fmt.Sprintf("%s of %d", left, len(s.Steps)), left, text}
}

// row is a running step in so many columns. A narrow terminal loses redundant parts and the middle of the name, but no numbers.
func (l *Live) row(address string, p step.Progress, columns int) Shown {
	elapsed := l.now.Sub(l.began[address])
	since, note := Seconds(elapsed), p.Note
	p.Note = ""
	notes := []string{since}
	if far := Progress(p, elapsed); far != "" {
		notes = []string{since + "  " + far}
	}
	if percent, _, left := numbers(p, elapsed); percent != "" {
		notes = append(notes, since+"  "+percent+left, strings.TrimSpace(percent+left))
	}
	if note != "" {
		notes = append([]string{notes[0] + "  " + note}, notes...)
	}
	name := escape.Line(address)
	least := min(ansi.StringWidth(name), nameShown)
	mark := l.mark(columns)
	var text string
	room := 0
	for _, n := range notes {
		text = escape.Line(n)
		if room = columns - ansi.StringWidth(mark.text) - 2 - ansi.StringWidth(text); room >= least {
			break
		}
	}
	return Shown{mark.text + shorten(name, room) + "  " + text}
}

// mark begins a row, as wide as an outcome if it fits.
func (l *Live) mark(columns int) Shown {
	if columns < 60 {
		return Shown{l.st.paint("36", "…").text + " "}
	}
	return Shown{l.st.Outcome("running", "…").text + "  "}
}

// shorten cuts the middle out of an escaped name that is wider than so many columns, and keeps more of its end, where the names of a
// block differ.
func shorten(name string, columns int) string {
	wide := ansi.StringWidth(name)
	if wide <= columns {
		return name
	}
	if columns < 2 {
		return ansi.Truncate(name, max(columns, 0), "")
	}
	head := (columns - 1) / 3
	return ansi.Truncate(name, head, "") + "…" + ansi.TruncateLeft(name, wide-(columns-1-head), "")
}

// firstFit is the first of several texts that fits into so many columns, or the last.
func firstFit(columns int, texts ...string) string {
	for _, t := range texts {
		if ansi.StringWidth(t) <= columns {
			return t
		}
	}
	return texts[len(texts)-1]
}

// Progress prints how far a step is, with the time left if the total is known.
func Progress(p step.Progress, elapsed time.Duration) string {
	percent, amount, left := numbers(p, elapsed)
	if percent != "" {
		percent += "  "
	}
	far := percent + amount + left
	if far != "" && p.Note != "" {
		far += "  "
	}
	return far + p.Note
}

// numbers are the parts of a progress, each "" if unknown; left begins with a comma if an amount precedes it.
func numbers(p step.Progress, elapsed time.Duration) (percent, amount, left string) {
	count := either(p.Unit == "bytes", Size, humanize.Comma)
	switch {
	case p.Total > 0:
		percent = fmt.Sprintf("%3.0f %%", 100*float64(p.Done)/float64(p.Total))
		amount = count(p.Done) + " of " + count(p.Total)
	case p.Done > 0:
		amount = count(p.Done)
	}
	if amount != "" && p.Unit != "bytes" && p.Unit != "" {
		amount += " " + p.Unit
	}
	switch {
	case p.LeftS > 0:
		left = words.Took(p.LeftS) + " left"
	case p.Total > p.Done && p.Done > 0 && elapsed > 3*time.Second:
		left = Seconds(time.Duration(float64(elapsed)*float64(p.Total-p.Done)/float64(p.Done))) + " left"
	}
	if left != "" && amount != "" {
		left = ", " + left
	}
	return percent, amount, left
}

// murmur prints, without a terminal, the progress of long steps, what the run waits for and, after a silence, how many steps are left.
func (l *Live) murmur(s workflows.State, work map[string]drive.Work, waitsFor string) {
	for _, a := range slices.Sorted(slices.Values(running(s))) {
		last, ok := l.said[a]
		if !ok {
			l.said[a] = l.now
			continue
		}
		if t := Progress(work[a].Progress, l.now.Sub(l.began[a])); t != "" && l.now.Sub(last) >= progressEvery {
			l.said[a] = l.now
			l.line(l.w, "running", "…", a, t)
		}
	}
	if waitsFor != l.waitsFor {
		if l.waitsFor = waitsFor; waitsFor != "" {
			Println(l.w, waitsFor)
		}
	}
	if len(s.Steps) > 0 && l.now.Sub(l.spoke) >= progressEvery {
		l.spoke = l.now
		Println(l.w, strings.TrimSpace(sums(s)[0]))
	}
}

// Events tells programs of a run in progress by JSON lines, redsi-progress/1: one for each state seen, so that it notices when its
// reader has gone.
type Events struct {
	w    io.Writer
	gone func() // called when nobody reads any more
	live *Live  // what a terminal would show
}

// NewEvents writes events that have what a terminal of so many columns would show.
func NewEvents(w io.Writer, columns int, gone func()) *Events {
	return &Events{w, gone, NewLive(NewScreen(io.Discard), Style{}, columns)}
}

func (e *Events) Begun(runID, url string) {
	e.write("begun", map[string]any{"run": runID, "url": url, "news": []string{"run " + runID, "Temporal UI: " + url}})
}

func (e *Events) Say(text string) {
	e.write("said", map[string]any{"news": []string{escape.Line(text)}})
}

// Update tells of a new state, as Live shows it.
func (e *Events) Update(s workflows.State, work map[string]drive.Work, waitsFor string, now time.Time) {
	counts := map[runs.Status]int{}
	var changed []workflows.StepState
	for _, x := range s.Steps {
		counts[x.Status]++
		if e.live.seen[x.Address] != x.Status {
			changed = append(changed, x)
		}
	}
	var news bytes.Buffer
	e.live.now = now
	e.live.news(&news, s, work)
	block := lists.Map(e.live.block(s, work, waitsFor), Shown.String)
	e.write("state", map[string]any{"total": len(s.Steps), "done": len(s.Steps) - counts[runs.Waiting] - counts[runs.Queued] - counts[runs.Running],
		"counts": counts, "steps": changed, "block": block,
		"news": slices.DeleteFunc(strings.Split(news.String(), "\n"), func(line string) bool { return line == "" })})
}

func (e *Events) write(event string, x map[string]any) {
	x["format"], x["event"] = "redsi-progress/1", event
	if err := writeJSON(e.w, x); err != nil {
		e.gone()
	}
}
