package cards

import (
	"reflect"
	"strings"
	"testing"

	"github.com/redsi/redsi/worker"
	"github.com/redsi/redsi/workflows"
)

// TestGPUs: --gpus is a number, all, or a list; of so many cards that there are.
func TestGPUs(t *testing.T) {
	for _, c := range []struct {
		text string
		have int
		want []int
		says string
	}{
		{"1", 4, []int{0}, ""},
		{"3", 4, []int{0, 1, 2}, ""},
		{"all", 3, []int{0, 1, 2}, ""},
		{"0,2", 4, []int{0, 2}, ""},
		{"cuda:3, cuda:1", 4, []int{3, 1}, ""},
		{"cuda:2", 4, []int{2}, ""},
		{"4", 3, nil, "--gpus: this process sees 3 cards, numbered 0 to 2"},
		{"0,7", 1, nil, "this process sees 1 card, numbered 0 to 0"},
		{"0", 4, nil, "--gpus 0: that is not a card"},
		{"-1", 4, nil, "that is not a card"},
		{"two", 4, nil, `"two" is not a card`},
		{"0,", 4, nil, `"" is not a card`},
		{"1,1", 4, nil, "card 1 is listed twice"},
	} {
		asked, err := parseCards(c.text)
		var got []int
		if err == nil {
			got, err = asked.among(c.have)
		}
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s of %d: %v, %v", c.text, c.have, got, err)
		}
	}
}

// TestJobCards: a job for Slurm asks for cards by their number, where its worker needs any.
func TestJobCards(t *testing.T) {
	gpu := worker.Options{Queues: []string{workflows.GPUTaskQueue}}
	for _, c := range []struct {
		o    Options
		w    worker.Options
		want int
		says string
	}{
		{Options{}, gpu, 1, ""},
		{Options{}, worker.Options{}, 1, ""},
		{Options{GPUs: "4"}, gpu, 4, ""},
		{Options{AllowCPU: true}, gpu, 0, ""},
		{Options{}, worker.Options{Queues: []string{workflows.TaskQueue}}, 0, ""},
		{Options{GPUs: "all"}, gpu, 0, "a number of cards"},
		{Options{GPUs: "0,2"}, gpu, 0, "a number of cards"},
	} {
		if n, err := c.o.OfJob(c.w); n != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %d, %v", c.o, n, err)
		}
	}
}
