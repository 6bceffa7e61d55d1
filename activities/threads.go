package activities

import "github.com/redsi/redsi/internal/cores"

// DivideCores gives steps that compute the cores that no other step uses, or so many
// threads each if that is not 0. On processors on which results depend on the number of
// threads, each of so many slots has its share of the cores at all times.
func (a *Activities) DivideCores(total, threads, slots int) {
	if threads == 0 && ThreadsMatter() {
		threads = max(1, total/slots)
	}
	a.Cores = cores.New(total, threads, UseThreads)
}
