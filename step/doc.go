// Package step is the contract between configuration, plan and activities: what a step kind is, which
// attributes it takes, what it reads and writes, and the content-addressed key of one piece of work.
//
// The nouns:
//
//   - Kind[C]: a typed definition (name, version, outputs, defaults, Run). Define erases C to a Spec; a
//     Registry is an explicit list of Specs.
//   - Attr, Type: the schema of C, read from its struct tags, for the HCL decoder, `redsi kinds` and
//     docs/kinds.
//   - Input: an artifact that C takes; before it exists it is a Ref to another step's output, the only kind
//     of edge.
//   - Fields: the JSON that an output is, declared from the struct that is written; Read: a field that a
//     kind will read. The two are compared before anything runs.
//   - Task: a kind and its evaluated configuration, with defaults and all inputs. Key(task) is the cache
//     key.
//   - IO: what Run sees of the world: named inputs, named outputs, progress.
//
// Reading order: input.go, schema.go, canonical.go, decode.go; fields.go, alike.go, check.go, task.go;
// host.go, io.go; kind.go, spec.go and key.go.
//
// It must not know HCL, Temporal, stores or any domain package.
//
// Promised from version 0.1.0 on: what a kind of another module needs to be defined. Before version 1 a minor version
// may change identifiers, which CHANGELOG.md then says, but never the key of a task whose kind kept its version.
package step
