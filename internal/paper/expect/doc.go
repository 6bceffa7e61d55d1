// Package expect judges results by what a pipeline expects of them: expectations of a cell in the block of its table or
// figure, and claims about cells of any. It owns the verdicts on all of them, and how they are written for other
// programs: JUnit's XML and Markdown.
//
// It reads results and runs nothing. It must not know of commands, terminals or pages: the end of a run, `redsi check`
// and the report agree since all of them ask it.
package expect
