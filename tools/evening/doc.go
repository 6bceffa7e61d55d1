// Command evening rehearses scale sample of the paper's pipeline, `redsi run --var scale=sample`, without the
// internet: at a part of its size, against a server on this machine that has what it downloads, of
// real articles under other names (internal/corpora/rehearsal). Then it takes the server away, runs
// again, and says what was asked, how long it took, and how much memory and disk.
//
// With -lid the machine falls asleep once in a download and once in a training: all processes of the
// run are stopped for so long, and connections are cut.
package main
