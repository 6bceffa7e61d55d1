package pilots

import (
	"fmt"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/system/lists"
)

// Sum is how many pilots of a sort Slurm has.
type Sum struct {
	Pilot   string     `json:"pilot"`
	Running int        `json:"running"`
	Pending int        `json:"pending"`
	Ends    *time.Time `json:"ends,omitempty"`   // at the latest, of the first that does
	Reason  string     `json:"reason,omitempty"` // why the first pends, in Slurm's word
	Jobs    string     `json:"jobs"`             // as programs of Slurm take them
}

// SumOf counts jobs that have not ended, by the names that those of a site's pilots have. Sorts without any are left out.
func SumOf(site *slurm.Site, names []string, jobs []slurm.Queued) (all []Sum) {
	for i, name := range names {
		s := Sum{Pilot: site.Pilots[i].Name}
		there := lists.Filter(jobs, func(q slurm.Queued) bool { return q.Name == name && q.State != slurm.Ended })
		for _, q := range there {
			switch {
			case q.State == slurm.Running:
				s.Running++
				if !q.Ends.IsZero() && (s.Ends == nil || q.Ends.Before(*s.Ends)) {
					s.Ends = &q.Ends
				}
			default:
				if s.Pending++; s.Reason == "" && q.Reason != "None" {
					s.Reason = q.Reason
				}
			}
		}
		if s.Jobs = slurm.IDs(lists.Map(there, func(q slurm.Queued) string { return q.ID })); len(there) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// String is such as "cpu 3 running (ends 15:10), 1 pending (Priority)  4711_[1-4]".
func (s Sum) String() string {
	var said []string
	add := func(n int, is, more string) {
		if n > 0 {
			said = append(said, strings.TrimSuffix(fmt.Sprintf("%d %s (%s)", n, is, more), " ()"))
		}
	}
	ends := ""
	if s.Ends != nil {
		ends = "ends " + s.Ends.Local().Format("15:04")
	}
	add(s.Running, "running", ends)
	add(s.Pending, "pending", s.Reason)
	return s.Pilot + " " + strings.Join(said, ", ") + "  " + s.Jobs
}
