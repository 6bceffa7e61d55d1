package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

// work has the documents that the client has open. Its run loads their pipelines, one at a time, always of the newest texts.
type work struct {
	s    *server
	ctx  context.Context // of the server
	wake chan struct{}

	mu         sync.Mutex
	docs       map[string]*document
	dirty      map[string]bool          // documents that have changed since they were loaded
	loadedDocs map[string]*loaded       // by document
	first      map[string]chan struct{} // of documents that have not been loaded; closed when they are
	shown      map[string][]string      // files that diagnostics of a document were sent for
	good       map[string][]decl        // what a file declared when it last was HCL
	modules    map[string][]string      // files of modules by their source, as last loaded
}

// document is the text of an open file, which another one follows when it is edited.
type document struct {
	*text
	path         string
	declarations func() (list []decl, complete bool) // see the function of this name
}

// loaded is what the last load of a document's pipeline found.
type loaded struct {
	files    []string           // of the pipeline
	modules  []string           // files of its modules
	folder   bool               // it is all files of the folder
	scope    *pipeline.Scope    // of the last text that was HCL; nil if there was none
	pipeline *pipeline.Pipeline // the last valid one; nil if there was none
	lookup   *lookup            // of its outcomes; nil if nobody has asked
}

// lookup is the outcomes of a pipeline, once done is closed.
type lookup struct {
	done     chan struct{}
	outcomes map[string]Outcome
	err      error
	at       time.Time
}

func (w *work) document(path string) *document {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.docs[path]
}

// loaded returns what the last load of a document found; never nil.
func (w *work) loaded(path string) *loaded {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.loadedDocs[path]; l != nil {
		return l
	}
	return &loaded{files: []string{path}}
}

// set opens, changes or, with nil, closes a document.
func (w *work) set(path string, t *text) {
	w.mu.Lock()
	if t == nil {
		delete(w.docs, path)
	} else {
		w.docs[path] = &document{t, path, sync.OnceValues(func() ([]decl, bool) { return declarations(path, []byte(t.src)) })}
		if w.loadedDocs[path] == nil && w.first[path] == nil {
			w.first[path] = make(chan struct{})
		}
	}
	w.mu.Unlock()
	w.changed(path)
}

// changed has a document reloaded, and all others that may be of one pipeline with it, or have it in a module.
func (w *work) changed(path string) {
	w.mu.Lock()
	w.dirty[path] = true
	for other := range w.docs {
		if l := w.loadedDocs[other]; filepath.Dir(other) == filepath.Dir(path) || l != nil && slices.Contains(l.modules, path) {
			w.dirty[other] = true
		}
	}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *work) next() (path string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path = range slices.Sorted(maps.Keys(w.dirty)) {
		delete(w.dirty, path)
		return path, true
	}
	return "", false
}

func (w *work) run() {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
		}
		for path, ok := w.next(); ok && w.ctx.Err() == nil; path, ok = w.next() {
			_, err := w.s.guard("load", func() (any, error) { return nil, w.load(path) })
			w.s.report(err)
		}
	}
}

func (w *work) load(path string) error {
	d := w.document(path)
	if d == nil {
		return w.publish(path, nil, pipeline.Diagnostics{})
	}
	if syntax.IsBeside(path) {
		return w.publish(path, []string{path}, w.s.CheckOther(path, []byte(d.src)))
	}
	before := w.loaded(path)
	_, inFolder := syntax.Folder(path)
	inFolder = inFolder || syntax.Around(path) != ""
	now, ds := w.open(d, before.folder || inFolder)
	if ds.HasErrors() && now.scope != nil && !inFolder { // is it the other way a pipeline?
		if other, ods := w.open(d, !before.folder); other.scope != nil && errorsOf(ods) < errorsOf(ds) {
			now, ds = other, ods
		}
	}
	if now.scope == nil {
		now.scope = before.scope
	}
	w.mu.Lock()
	if now.pipeline == nil { // what was found of the last one is better than nothing
		now.pipeline, now.lookup = before.pipeline, before.lookup
	}
	w.loadedDocs[path] = now
	if first := w.first[path]; first != nil {
		delete(w.first, path)
		close(first)
	}
	for _, f := range now.files {
		if decls, complete := w.declarations(f); complete {
			w.good[f] = decls
		}
	}
	w.mu.Unlock()
	return w.publish(path, now.files, ds)
}

func errorsOf(ds pipeline.Diagnostics) int {
	n, _ := ds.Count()
	return n
}

// open loads a document, alone or with the other files of its folder.
func (w *work) open(d *document, folder bool) (*loaded, pipeline.Diagnostics) {
	sources := map[string][]byte{d.path: []byte(d.src)}
	if folder {
		if more, err := syntax.Read(filepath.Dir(d.path)); err == nil {
			maps.Copy(more, sources)
			sources = more
		}
	}
	w.mu.Lock()
	for path, other := range w.docs {
		if _, ok := sources[path]; ok {
			sources[path] = []byte(other.src)
		}
	}
	w.mu.Unlock()
	now := &loaded{files: slices.Sorted(maps.Keys(sources)), folder: folder}
	o := w.s.Load
	o.Local = w.s.Local(filepath.Dir(d.path))
	o.Module = func(folder, source string) (map[string][]byte, error) { return w.openModule(now, folder, source) }
	var ds pipeline.Diagnostics
	now.scope, now.pipeline, ds = pipeline.Open(sources, o)
	return now, ds
}

// source is a file's text, as it is open or on disk; w.mu is held.
func (w *work) source(path string) ([]byte, error) {
	if d := w.docs[path]; d != nil {
		return []byte(d.src), nil
	}
	return syntax.ReadFile(path)
}

// declarations lists what a file declares, and whether that is all; w.mu is held.
func (w *work) declarations(path string) ([]decl, bool) {
	if d := w.docs[path]; d != nil {
		return d.declarations()
	}
	src, err := w.source(path)
	if err != nil {
		return nil, false
	}
	return declarations(path, src)
}

// declared lists what the files of a document's pipeline declare; of a file that is broken now, also what it declared before.
func (w *work) declared(d *document) []decl {
	files := w.loaded(d.path).files
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []decl
	for _, f := range files {
		decls, complete := w.declarations(f)
		all = append(all, decls...)
		if !complete {
			all = append(all, lists.Filter(w.good[f], func(old decl) bool { return find(decls, old.name) == nil })...)
		}
	}
	return all
}

// publish sends what is wrong with the files of a document's pipeline, and withdraws it for files that are no longer in it.
func (w *work) publish(path string, files []string, ds pipeline.Diagnostics) error {
	by := map[string][]diagnostic{}
	for _, f := range files {
		by[f] = []diagnostic{}
	}
	for _, d := range ds.List {
		file := d.Subject.Filename
		x := diagnostic{Range: spanOf(ds, *d.Subject), Severity: 1, Source: "redsi", Message: d.Summary + "\n" + d.Detail}
		if d.Severity == hcl.DiagWarning {
			x.Severity = 2
		}
		for _, r := range syntax.Related(d) {
			x.Related = append(x.Related, relatedInfo{location{uriOf(r.Range.Filename), spanOf(ds, r.Range)}, r.Text})
		}
		if _, ok := by[file]; !ok { // a variable from the command line, or a file of them
			x.Message, x.Range, file = file+": "+x.Message, span{}, path
		}
		by[file] = append(by[file], x)
	}
	w.mu.Lock()
	for _, f := range w.shown[path] {
		if _, ok := by[f]; !ok {
			by[f] = []diagnostic{}
		}
	}
	w.shown[path] = files
	// Of an open file its own load tells.
	maps.DeleteFunc(by, func(f string, _ []diagnostic) bool { return f != path && w.docs[f] != nil })
	w.mu.Unlock()
	for _, f := range slices.Sorted(maps.Keys(by)) {
		params := map[string]any{"uri": uriOf(f), "diagnostics": by[f]}
		if err := w.s.wire.write(map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params}); err != nil {
			return err
		}
	}
	return nil
}

// spanOf is the range of a diagnostic, counted in the text that was loaded.
func spanOf(ds pipeline.Diagnostics, r hcl.Range) span {
	at := func(p hcl.Pos) position { return position{max(p.Line-1, 0), units(ds.Before(r.Filename, p))} }
	return span{at(r.Start), at(r.End)}
}

const outcomesFresh = 10 * time.Second // how long outcomes are thought to be true

// outcomes has the outcomes of a document's pipeline looked up, unless they are fresh, and waits for them; nil: there is no
// pipeline, or ctx ended.
func (w *work) outcomes(ctx context.Context, path string) (*pipeline.Pipeline, *lookup) {
	w.mu.Lock()
	first := w.first[path]
	w.mu.Unlock()
	if first != nil {
		select {
		case <-first:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	l := w.loadedDocs[path]
	if l == nil || l.pipeline == nil {
		w.mu.Unlock()
		return nil, nil
	}
	if l.lookup == nil || l.lookup.old() {
		l.lookup = &lookup{done: make(chan struct{})}
		file := path
		if l.folder {
			file = filepath.Dir(path)
		}
		go w.look(l.lookup, l.pipeline, file)
	}
	p, found := l.pipeline, l.lookup
	w.mu.Unlock()
	select {
	case <-found.done:
		return p, found
	case <-ctx.Done():
		return p, nil
	}
}

func (k *lookup) old() bool {
	select {
	case <-k.done:
		return time.Since(k.at) > outcomesFresh
	default:
		return false
	}
}

func (w *work) look(k *lookup, p *pipeline.Pipeline, file string) {
	defer close(k.done)
	_, k.err = w.s.guard("outcomes", func() (_ any, err error) {
		k.outcomes, err = w.s.Outcomes(w.ctx, w.s.root, file, p)
		return nil, err
	})
	k.at = time.Now()
}

func (s *server) didOpen(m *message) (any, error) {
	var p placeParams
	path, err := s.decode(m, &p, &p.TextDocument)
	if err == nil {
		s.work.set(path, newText(p.TextDocument.Text))
	}
	return nil, err
}

func (s *server) didClose(m *message) (any, error) {
	var p placeParams
	path, err := s.decode(m, &p, &p.TextDocument)
	if err == nil {
		s.work.set(path, nil)
	}
	return nil, err
}

func (s *server) didChange(m *message) (any, error) {
	var p changeParams
	d, err := s.document(m, &p, &p.TextDocument)
	if err != nil {
		return nil, err
	}
	t := d.text
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			t = newText(c.Text)
			continue
		}
		from, to := t.offset(c.Range.Start), t.offset(c.Range.End)
		if to < from {
			return nil, &rpcError{codeParams, fmt.Sprintf("a change of %s ends before it starts", p.TextDocument.URI)}
		}
		t = newText(t.src[:from] + c.Text + t.src[to:])
	}
	s.work.set(d.path, t)
	return nil, nil
}

// filesChanged has the documents reloaded that a saved or changed file may concern.
func (s *server) filesChanged(m *message) (any, error) {
	var p struct {
		TextDocument textDocument   `json:"textDocument"`
		Changes      []textDocument `json:"changes"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, &rpcError{codeParams, fmt.Sprintf("%s: %v", m.Method, err)}
	}
	for _, c := range append(p.Changes, p.TextDocument) {
		if path, err := pathOf(c.URI); err == nil {
			s.work.changed(path)
		}
	}
	return nil, nil
}
