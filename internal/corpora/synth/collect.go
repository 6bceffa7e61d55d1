package synth

import (
	"fmt"
	"io"
)

// collector writes outputs in order and adds up their truth.
type collector struct {
	truth    *Truth
	create   func(name string) (io.WriteCloser, error)
	progress func(done, total int64)
	files    []File
	open     map[int]*gzipFile
	subs     *substitutions

	done, total int64
}

// collect writes one job's output.
func (g *collector) collect(j job, o output) error {
	if o.err != nil {
		return fmt.Errorf("synth: compress %s: %w", g.files[j.file].Name, o.err)
	}
	if err := g.write(j.file, o.raw, o.deflated, j.member); err != nil {
		return err
	}
	if j.side >= 0 {
		if err := g.write(j.side, o.sideRaw, o.sideDeflated, false); err != nil {
			return err
		}
	}
	if j.last {
		if err := g.close(j.file); err != nil {
			return err
		}
	}
	if j.ends {
		if err := g.close(j.side); err != nil {
			return err
		}
	}
	g.count(j, o)
	return nil
}

func (g *collector) write(file int, raw, deflated []byte, member bool) error {
	f := g.open[file]
	if f == nil {
		w, err := g.create(g.files[file].Name)
		if err != nil {
			return fmt.Errorf("synth: create %s: %w", g.files[file].Name, err)
		}
		f = &gzipFile{name: g.files[file].Name, w: w}
		g.open[file] = f
	}
	if member {
		if err := f.endMember(); err != nil {
			return err
		}
	}
	return f.write(raw, deflated)
}

func (g *collector) close(file int) error {
	f := g.open[file]
	delete(g.open, file)
	g.files[file].Bytes = f.written
	return f.close()
}

func (g *collector) count(j job, o output) {
	t := g.truth
	t.Tokens.Union += o.tokens
	switch g.files[j.file].Kind {
	case KindTrain:
		t.Tokens.Train += o.tokens
		t.Openings = append(t.Openings, o.openings...)
	case KindDev:
		t.Tokens.Dev += o.tokens
		g.subs.merge(o.subs)
	case KindStub:
		g.files[j.file].Entries += o.stub.Pages
		t.Stub.Pages += o.stub.Pages
		t.Stub.Revisions += o.stub.Revisions
		t.Stub.Redirects += o.stub.Redirects
		if t.Stub.Namespaces == nil {
			t.Stub.Namespaces = map[int]int{}
		}
		for ns, n := range o.stub.Namespaces {
			t.Stub.Namespaces[ns] += n
		}
	}
	g.done += int64(j.hi - j.lo)
	if g.progress != nil {
		g.progress(g.done, g.total)
	}
}
