package collection

import (
	"github.com/redsi/redsi/internal/host/rates"
	"github.com/redsi/redsi/step"
)

// What files of Natural Questions come to: 42 GB have 307,373 records ("Natural Questions" in the
// paper). Of a byte extract left 0.18 to 0.21 in real and generated records of real size, which were few.
const (
	bytesOfRecord = 42e9 / rates.TrainQueries
	extractedByte = 0.25
)

// work is reading the files.
func (c extractConfig) work() step.Work {
	bytes := func(times float64) step.Amount {
		return step.Amount{Times: times, Of: c.Files, Count: step.BytesCount}
	}
	return step.Work{
		Does:   []step.Doing{{Unit: step.GzipBytes, Amount: bytes(1)}},
		Counts: map[string]step.Amount{"records": bytes(1 / bytesOfRecord), step.BytesCount: bytes(extractedByte)},
	}
}

// work says how large the collection will be at most: as the paper's largest, or with a document
// for each record.
func (c dedupConfig) work() step.Work {
	records := func(of step.Inputs) step.Amount { return step.Amount{Times: 1, Of: of, Count: "records"} }
	all := records(append(append(step.Inputs{}, c.Train...), c.Dev...))
	all.AtMost = rates.Documents
	w := step.Work{Counts: map[string]step.Amount{"documents": all, "records.train": records(c.Train)}}
	if len(c.Dev) > 0 {
		w.Counts["records.dev"] = records(c.Dev)
	}
	return w
}

// work says how large the generated collection will be.
func (c synthConfig) work() step.Work {
	exactly := func(n int) step.Amount { return step.Exactly(float64(n)) }
	return step.Work{Counts: map[string]step.Amount{"documents": exactly(c.Pages), "records.train": exactly(c.TrainQuestions), "records.dev": exactly(c.DevQuestions)}}
}
