// Package client is as much of Temporal's controller of auto-scaled workers, which starts them on clouds, as its server
// names: there is none.
package client

import (
	"context"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"
)

var Module = fx.Supply(Client{})

type Client struct{}

type (
	space   = *namespace.Namespace
	version = *deployment.WorkerDeploymentVersion
	updates = map[string]iface.ScalingGroupSpecUpdate
)

const leftOut = "this server was built without auto-scaled workers"

func (Client) DescribeWorkerControllerInstance(context.Context, space, version) (*iface.Instance, []byte, error) {
	return nil, nil, serviceerror.NewNotFound(leftOut)
}
func (Client) UpdateWorkerControllerInstance(context.Context, space, version, []byte, string, updates, []string) (*iface.Instance, error) {
	return nil, serviceerror.NewInvalidArgument(leftOut)
}
func (Client) ValidateWorkerControllerInstanceSpec(context.Context, space, version, string, updates, []string) error {
	return serviceerror.NewInvalidArgument(leftOut)
}

// DeleteWorkerControllerInstance deletes nothing: there is none.
func (Client) DeleteWorkerControllerInstance(context.Context, space, version, string) error {
	return nil
}
