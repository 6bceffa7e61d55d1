package simulate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"

	"github.com/redsi/redsi/internal/system/readers"
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

// give puts a task into its queue after a while, or gives it to a drawn process that waits: the
// polls of one process are alike. It is called locked.
func (s *server) give(t *task) {
	s.later("give "+t.what, func() {
		q, n := s.queue(t.queue), s.nth("match "+t.what)
		switch {
		case !t.valid():
		case len(q.pollers) == 0:
			q.tasks = append(q.tasks, t)
		default:
			rank := func(p *poller) draw { return s.draw.of("match", t.what, n, p.process) }
			p := slices.MinFunc(q.pollers, func(a, b *poller) int { return cmp.Compare(rank(a), rank(b)) })
			q.leave(p)
			s.begin(t, p)
		}
	})
}

func (q *queue) leave(p *poller) {
	q.pollers = slices.DeleteFunc(q.pollers, func(x *poller) bool { return x == p })
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
const pollTime = 140 * time.Second

// poll waits for a task, and fills in what its worker gets; without one, nothing. The queue of a
// worker's cache has another name each time, so its draws are those of what it is for.
func (s *server) poll(ctx context.Context, process, name, of string, fill func(*task)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	way := s.draw.of("poll", process, of, s.nth("poll "+process+of)).span(20*time.Microsecond, 3*time.Millisecond)
	s.mu.Unlock()
	err := readers.Pause(ctx, way)
	s.mu.Lock()
	q, p := s.queue(name), &poller{process: process, got: make(chan *task, 1)}
	for err == nil && len(q.tasks) > 0 && len(p.got) == 0 {
		t := q.tasks[0]
		if q.tasks = q.tasks[1:]; t.valid() {
			s.begin(t, p)
		}
	}
	if err == nil && len(p.got) == 0 {
		q.pollers = append(q.pollers, p)
		s.mu.Unlock()
		var t *task
		select {
		case t = <-p.got:
			p.got <- t
		case <-time.After(pollTime):
		case <-ctx.Done():
		case <-s.over:
		}
		s.mu.Lock()
		q.leave(p)
	}
	if len(p.got) > 0 {
		if t := <-p.got; t != nil { // nil: it was lost
			fill(t)
		}
	}
}

// of is what a queue of workflow tasks is for.
func of(q *taskqueue.TaskQueue) string {
	if q.Kind == enums.TASK_QUEUE_KIND_STICKY {
		return "cache of " + q.NormalName
	}
	return "workflow " + q.Name
}
