package simulate

import (
	"context"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"slices"
	"time"
)

// queue is where tasks wait for workers, or workers for tasks.
type queue struct {
	tasks   []*task
	pollers []*poller
}

// poller is a call of a process that waits for a task.
type poller struct {
	process string
	got     chan *task // of one
}

// A task is a task of a workflow, or a try of an activity.
type task struct {
	what     string
	queue    string
	valid    func() bool          // false: nobody wants it any more
	begin    func(process string) // it is given out
	workflow *workflowTask
	activity *activityTry
}

func (s *server) queue(name string) *queue {
	if s.queues[name] == nil {
		s.queues[name] = &queue{}
	}
	return s.queues[name]
}

// give puts a task into its queue after a while. It is called locked.
func (s *server) give(t *task) {
	s.later("give "+t.what, func() {
		if !t.valid() {
			return
		}
		q := s.queue(t.queue)
		for _, p := range s.inOrder(t, q.pollers) {
			q.pollers = slices.DeleteFunc(q.pollers, func(x *poller) bool { return x == p })
			s.begin(t, p)
			return
		}
		q.tasks = append(q.tasks, t)
	})
}

// inOrder are the pollers, one of a drawn process first: those of one process are alike.
func (s *server) inOrder(t *task, pollers []*poller) []*poller {
	of := slices.Clone(pollers)
	rank := map[string]draw{}
	n := s.nth("match " + t.what)
	for _, p := range of {
		rank[p.process] = s.draw.of("match", t.what, n, p.process)
	}
	slices.SortStableFunc(of, func(a, b *poller) int {
		if rank[a.process] < rank[b.process] {
			return -1
		} else if rank[a.process] > rank[b.process] {
			return 1
		}
		return 0
	})
	return of
}

func (s *server) begin(t *task, p *poller) {
	t.begin(p.process)
	if s.loseTask != nil && s.loseTask(t.what) {
		s.trace("server %d: %s is lost on its way to %s", s.index, t.what, p.process)
		t = nil
	}
	p.got <- t
}

// pollTime is how long a poll waits at most.
const pollTime = time.Minute

// poll waits for a task; nil: there was none. The queue of a worker's cache has another name each
// time, so its draws are those of what it is for.
func (s *server) poll(ctx context.Context, process, name, of string) *task {
	if of == "" {
		of = name
	}
	s.mu.Lock()
	n := s.nth("poll " + process + of)
	s.mu.Unlock()
	way := time.NewTimer(s.draw.of("poll", process, of, n).span(20*time.Microsecond, 3*time.Millisecond))
	defer way.Stop()
	select {
	case <-way.C:
	case <-ctx.Done():
		return nil
	}
	s.mu.Lock()
	q := s.queue(name)
	p := &poller{process: process, got: make(chan *task, 1)}
	for len(q.tasks) > 0 {
		t := q.tasks[0]
		q.tasks = q.tasks[1:]
		if t.valid() {
			s.begin(t, p)
			break
		}
	}
	if len(p.got) == 0 {
		q.pollers = append(q.pollers, p)
	}
	s.mu.Unlock()
	timeout := time.NewTimer(pollTime)
	defer timeout.Stop()
	select {
	case t := <-p.got:
		return t
	case <-timeout.C:
	case <-ctx.Done():
	case <-s.over:
	}
	s.mu.Lock()
	q.pollers = slices.DeleteFunc(q.pollers, func(x *poller) bool { return x == p })
	s.mu.Unlock()
	select {
	case t := <-p.got: // at the same moment
		return t
	default:
		return nil
	}
}

// of is what a queue of workflow tasks is for.
func of(q *taskqueue.TaskQueue) string {
	if q.Kind == enums.TASK_QUEUE_KIND_STICKY {
		return "cache of " + q.NormalName
	}
	return "workflow " + q.Name
}
