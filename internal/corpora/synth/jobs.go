package synth

import "slices"

// chunkBytes is the aim for a job's size before compression.
const chunkBytes = 4 << 20

// jobs cuts the files into pieces, whose bounds depend on the configuration only.
func (p *plan) jobs(files []File) []job {
	cfg := p.cfg
	simplified := slices.IndexFunc(files, func(f File) bool { return f.Kind == KindSimplified })
	records := max(1, chunkBytes/(5*cfg.MeanHTMLBytes)) // a byte of HTML makes about five of JSON
	lanes := chunkBytes / (500 * (4 + cfg.StubRevisionsPerPage))
	var jobs []job
	shard := map[string]int{}
	for i, f := range files {
		k := shard[f.Kind]
		shard[f.Kind]++
		switch f.Kind {
		case KindTrain:
			lo, hi := part(cfg.TrainQuestions, cfg.TrainShards, k)
			jobs = append(jobs, cut(job{file: i, kind: f.Kind, lo: lo, hi: hi, side: simplified}, records, 1)...)
			jobs[len(jobs)-1].ends = k == cfg.TrainShards-1
		case KindDev:
			lo, hi := part(cfg.DevQuestions, cfg.DevShards, k)
			jobs = append(jobs, cut(job{file: i, kind: f.Kind, lo: lo, hi: hi, side: -1}, records, 1)...)
		case KindStub:
			lo, hi := part(cfg.lanes(), cfg.StubParts, k)
			jobs = append(jobs, cut(job{file: i, kind: f.Kind, lo: lo, hi: hi, side: -1}, lanes, cfg.StubMembers)...)
		}
	}
	return jobs
}

// cut divides a file's job into jobs of at most per entries, which form at most
// the given number of gzip members. There is always at least one.
func cut(whole job, per, members int) []job {
	n := whole.hi - whole.lo
	per = max(1, min(per, (n+members-1)/members))
	var jobs []job
	for at := whole.lo; at < whole.hi || len(jobs) == 0; at += per {
		j := whole
		j.lo, j.hi = at, min(whole.hi, at+per)
		jobs = append(jobs, j)
	}
	for m := range members {
		jobs[len(jobs)*m/members].member = true
	}
	jobs[0].first = true
	jobs[len(jobs)-1].last = true
	return jobs
}

// worker does jobs with memory of its own.
type worker struct {
	renderer renderer
	deflater deflater
}

func (w *worker) do(j job) output {
	p := w.renderer.plan
	var o output
	switch j.kind {
	case KindTrain:
		w.records(p.train[j.lo:j.hi], false, &o)
	case KindDev:
		o.subs = newSubstitutions()
		w.records(p.dev[j.lo:j.hi], true, &o)
	case KindStub:
		w.stub(j, &o)
	}
	if o.deflated, o.err = w.deflater.chunk(o.raw); o.err != nil {
		return o
	}
	if j.side >= 0 {
		o.sideDeflated, o.err = w.deflater.chunk(o.sideRaw)
	}
	return o
}

func (w *worker) records(list []record, dev bool, o *output) {
	r := &w.renderer
	for _, rec := range list {
		r.render(rec, dev, o.subs)
		o.tokens += r.tokens
		o.raw = append(o.raw, r.full.b...)
		if dev {
			continue
		}
		o.sideRaw = append(o.sideRaw, r.simplified.b...)
		if rec.index < maxOpenings {
			o.openings = append(o.openings, Opening{ExampleID: exampleID(r.plan.cfg, rec), Text: r.opening})
		}
	}
}

func (w *worker) stub(j job, o *output) {
	p := w.renderer.plan
	if j.first {
		o.raw = append(o.raw, stubHeader...)
	}
	for lane := j.lo; lane < j.hi; lane++ {
		if s, ok := p.stubPage(lane); ok {
			o.raw = s.append(o.raw, p.cfg, &o.stub)
		}
	}
	if j.last {
		o.raw = append(o.raw, stubFooter...)
	}
}
