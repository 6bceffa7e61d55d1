// Command bench measures redsi beside what people use today, writes the ratios to bench/rows.jsonl
// and their table into docs/performance.md, and fails where one is below its floor:
//
//	go run ./bench [-only NAME,...] [-quick] [-card DEVICE]
//	go run ./bench -docs
//	go run ./bench -costs
//
// Every measured piece is a process of its own, ours too (this program restarts
// itself), so that peak memory belongs to one piece and no heap is inherited.
// Ours and the peer's alternate in the same minute; the best of each are compared, once
// they agree (enough in line.go). Both sides get two threads unless a line
// says otherwise, time only their own work, and must agree on what they found.
//
// A ratio above 1 means that redsi is better, whatever the unit.
//
// A new comparison is a line in its group's list, or a new file with a list of its
// own that allLines in main.go names, plus a piece in pieces.go for our side and a script in
// peers/ with a pinned requirements-GROUP.txt for the other, whose GROUP stands in small
// (env.go) unless it needs an environment of its own.
//
// Reading order: main.go, line.go (what a line is), measure.go (how it is taken), table.go,
// then one file per group. pieces.go lists what the program
// can be restarted as. The generated corpus and the peers' virtual environments
// are kept in the folder bench of REDSI_DEPS, or of the user's cache folder.
package main
