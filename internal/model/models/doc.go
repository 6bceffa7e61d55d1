// Package models knows the families of models and opens one by config.json's model_type. A new family is a line here.
// It also says of any model's folder, encoders' among them, whether its files fit together.
package models
