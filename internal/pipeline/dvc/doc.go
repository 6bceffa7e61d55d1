// Package dvc turns the stages of a dvc.yaml into the text of a pipeline that runs them, and
// lists what it could not take over. It reads dvc.yaml and files beside it, and starts
// nothing. It must not know how a pipeline is run.
package dvc
