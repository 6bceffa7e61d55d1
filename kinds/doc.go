// Package kinds lists the step kinds of the paper. They live in rooms by what they do, in the folder internal if only
// the paper needs them: general knows nothing of papers, collection makes collections of documents from Natural
// Questions, ids gives documents their identifiers, model trains and asks models, ranking ranks without training and
// judges all rankings, results renders tables and figures. A kind is its configuration, its definition and a Run of a
// few lines that calls a domain package; kinds that belong together share a file. To add one: write it, add its line to
// All, run `make docs`. Rooms do not import each other.
//
// Promised from version 0.1.0 on: All, and what people write in HCL, as `redsi kinds` prints it: names, attributes and
// outputs. A kind that makes other bytes of the same input gets another version, and CHANGELOG.md says so.
package kinds
