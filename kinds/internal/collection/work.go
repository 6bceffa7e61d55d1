package collection

import "github.com/redsi/redsi/step"

// work says how large the collections of a generated corpus will be, at most.
func (c synthConfig) work() step.Work {
	return step.Work{Collection: &step.FutureCollection{Documents: int64(c.Pages), TrainQueries: int64(c.TrainQuestions), DevQueries: int64(c.DevQuestions)}}
}

// work says how large the collection will be.
func (c synthMSMarcoConfig) work() step.Work {
	return step.Work{Collection: &step.FutureCollection{Documents: int64(c.Documents), TrainQueries: int64(c.TrainQueries), DevQueries: int64(c.DevQueries)}}
}
