package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// runTrainLine measures what users get: processes from their start to their end, with the threads that each takes by itself.
var runTrainLine = line{
	name: "run_train_vs_transformers", takes: 65, target: 1, value: seconds, once: true,
	doc: "redsi run of 15 updates of T5 Efficient Tiny and an evaluation, server, the program that computes and all, against a plain loop of transformers, default threads",
	ours: side{command: func(e *env) ([]string, error) {
		program, dir, err := e.trained()
		return ours("run-train", dir, program), err
	}},
	peer: side{command: func(e *env) ([]string, error) {
		_, dir, err := e.trained()
		if err != nil {
			return nil, err
		}
		command, err := e.python("models", "run_train.py", filepath.Join(dir, "data"))
		return ours("run-train", append([]string{dir}, command...)...), err
	}, is: transformers + ", autocast bf16, torch's Adafactor"},
}

// trained are redsi and a folder with all that the training reads, as results and as files.
func (e *env) trained() (program, dir string, err error) {
	if program, err = e.redsi(); err != nil {
		return program, "", err
	}
	dir, err = e.keep("run-train2", func(dir string) error {
		err := e.quiet(program, trainingOf(dir, "run", "-t", "step.export.nq", "-t", "step.random_t5.tiny", "-t", "step.naive_ids.nq",
			"--out", filepath.Join(dir, "results"))...)
		for _, file := range []string{"step.export.nq.files/beir/corpus.jsonl", "step.export.nq.files/beir/queries.jsonl",
			"step.export.nq.files/beir/qrels/train.tsv", "step.export.nq.files/beir/qrels/dev.tsv",
			"step.random_t5.tiny.model/config.json", "step.random_t5.tiny.model/model.safetensors"} {
			if err == nil {
				err = e.quiet(program, trainingOf(dir, "artifacts", "get", file, filepath.Join(dir, "data"), "--force")...)
			}
		}
		return err
	})
	return program, dir, err
}

// trainingOf are the arguments of a verb on bench/run_train.hcl.
func trainingOf(dir string, verb ...string) []string {
	assets, err := filepath.Abs(filepath.Join("assets", "tokenizers"))
	if err != nil {
		panic(err) // no working folder
	}
	return append(verb, "-f", filepath.Join("bench", "run_train.hcl"), "--var", "assets="+assets,
		"--state", filepath.Join(dir, "state"), "--log-level", "warn")
}

// runTraining measures a process from its start to its end, redsi or a program with its arguments, with the threads that it takes by itself.
func runTraining(args []string) (sample, error) {
	dir, command := args[0], args[1:]
	if len(command) == 1 {
		seed := fmt.Sprintf("seed=%d", time.Now().UnixNano()%1e9) // a new training, not a hit
		command = append(command, trainingOf(dir, "run", "-t", "step.train.tiny", "--var", seed, "--out", filepath.Join(dir, "results"))...)
	}
	for _, name := range threadNames {
		if err := os.Unsetenv(name); err != nil {
			return sample{}, err
		}
	}
	s, err := runAll("", command[0], command[1:])
	s.Work, s.Check = 1, "15 updates"
	return s, err
}
