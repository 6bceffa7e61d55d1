package config

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

type EnvConfig struct{ Credentials aws.Credentials }

func NewEnvConfig() (EnvConfig, error) { return EnvConfig{}, aws.ErrLeftOut }
func LoadDefaultConfig(context.Context, ...any) (aws.Config, error) {
	return aws.Config{}, aws.ErrLeftOut
}
func WithRegion(string) any                   { return nil }
func WithClientLogMode(aws.ClientLogMode) any { return nil }
