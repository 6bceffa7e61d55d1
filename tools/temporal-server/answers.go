package main

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// awaitAnswers returns when each of the server's services knows the namespace:
// they learn of it one by one, and a worker takes "not found" as final.
func awaitAnswers(ctx context.Context, address string, k *keys) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(k.calling(k.client))))
	if err != nil {
		return err
	}
	defer conn.Close()
	c := workflowservice.NewWorkflowServiceClient(conn)
	for {
		err := answers(ctx, c)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("the server does not answer itself"), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// answers asks a question of the frontend, of visibility, of matching and of history.
func answers(ctx context.Context, c workflowservice.WorkflowServiceClient) error {
	const namespace = "default"
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := c.DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace}); err != nil {
		return err
	}
	if _, err := c.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1}); err != nil {
		return err
	}
	_, err := c.DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{Namespace: namespace,
		TaskQueue: &taskqueue.TaskQueue{Name: "answers"}, TaskQueueType: enums.TASK_QUEUE_TYPE_WORKFLOW})
	if err != nil {
		return err
	}
	_, err = c.DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{Namespace: namespace,
		Execution: &common.WorkflowExecution{WorkflowId: "answers"}})
	var none *serviceerror.NotFound
	if err != nil && !errors.As(serviceerror.FromStatus(status.Convert(err)), &none) {
		return err
	}
	return nil
}
