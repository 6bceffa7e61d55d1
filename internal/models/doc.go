// Package models knows the families of models and opens one by config.json's model_type.
// A new family is a line here.
package models
