package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

const (
	loopback  = "127.0.0.1"
	namespace = "default"
)

// tuning is Temporal's dynamic configuration.
var tuning = map[string]any{
	// Without the queue readers' throttles, which a single machine does not need, an empty activity takes 10 ms, not 85.
	"history.transferProcessorMaxPollRPS":     2000,
	"history.transferProcessorMaxPollHostRPS": 5000,
	"history.timerProcessorMaxPollRPS":        2000,
	// Nor task queues in four parts: a task in a part that nobody polls is sometimes forwarded after a second or two only.
	"matching.numTaskqueueReadPartitions":  1,
	"matching.numTaskqueueWritePartitions": 1,
	// The polls of a worker that ends are cancelled, so that no task is given to it and lost.
	"frontend.enableCancelWorkerPollsOnShutdown": true,
	// Histories and task queues of one person's runs need no scavengers, whose workflows are a sixth of a start's work.
	"worker.taskQueueScannerEnabled": false,
	"worker.historyScannerEnabled":   false,
	// As Temporal's own development server has them.
	"history.hostLevelCacheMaxSize":                  8096,
	"frontend.namespaceRPS.visibility":               100,
	"system.forceSearchAttributesCacheRefreshOnRead": true,
	"limit.maxIDLength":                              1000,
}

// serve starts the server and its UI, and returns their addresses once they answer.
func serve(ctx context.Context, o options, database string, last info, k *keys) (address, ui string, err error) {
	nameUser(o.dir)
	l, ui, err := listenUI(o.uiPort, last.UI)
	if err != nil {
		return "", "", err
	}
	conf, err := configuration(o, database, last)
	if err != nil {
		return "", "", err
	}
	address = conf.PublicClient.HostPort
	worker.SetBinaryChecksum("embedded") // else the SDK hashes this program, a tenth of a start's work
	dynamic := dynamicconfig.StaticClient{}
	for name, v := range tuning {
		dynamic[dynamicconfig.MakeKey(name)] = v
	}
	dynamic[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = o.long
	hosts := map[primitives.ServiceName]static.Hosts{}
	for name, s := range conf.Services {
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(hostPort(s.RPC.BindOnIP, s.RPC.GRPCPort))
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(conf),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: "error", Format: "console"}))),
		temporal.WithDynamicConfigClient(dynamic),
		temporal.WithTLSConfigFactory(k.provider()),
		temporal.WithAuthorizer(authorization.NewDefaultAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return roles{} }),
	)
	if err != nil {
		return "", "", err
	}
	if err := server.Start(); err != nil {
		return "", "", err
	}
	if err := awaitAnswers(ctx, address, k); err != nil {
		return "", "", err
	}
	// Created once the frontend answers: a call that fails before is not retried for a while.
	handler, err := webUI(address, k)
	if err != nil {
		return "", "", fmt.Errorf("web UI: %w", err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go s.Serve(l) // until the process ends
	return address, ui, nil
}

// configuration configures a server of one shard, without HTTP API, metrics or profiling ports, on this machine's
// loopback; o.listen may put the front end elsewhere.
func configuration(o options, database string, last info) (*config.Config, error) {
	sql := databaseConfig(database, o.memory)
	if o.memory {
		if err := createNamespace(sql, o.attributes); err != nil {
			return nil, err
		}
	}
	c := &config.Config{
		Persistence: config.Persistence{DefaultStore: "sqlite", VisibilityStore: "sqlite", NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{"sqlite": {SQL: sql}}},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            map[string]config.Service{},
	}
	// There is nobody to join: the server gives up its own start after twice this time, which a busy machine needs.
	c.Global.Membership = config.Membership{MaxJoinDuration: 150 * time.Second, BroadcastAddress: loopback}
	c.Archival.History.State, c.Archival.Visibility.State = "disabled", "disabled"
	c.NamespaceDefaults.Archival.History.State, c.NamespaceDefaults.Archival.Visibility.State = "disabled", "disabled"
	for _, name := range temporal.DefaultServices {
		port, host := 0, loopback
		if name == string(primitives.FrontendService) {
			host, port = o.frontend(), o.port
			if earlier := portOf(last.Address); port == 0 && earlier != 0 && free(host, earlier) {
				port = earlier
			}
		}
		if port == 0 {
			var err error
			if port, err = freePort(host); err != nil {
				return nil, err
			}
		}
		c.Services[name] = config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: host}}
	}
	c.PublicClient.HostPort = hostPort(o.frontend(), c.Services[string(primitives.FrontendService)].RPC.GRPCPort)
	c.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled: true, InitialFailoverVersion: 1, RPCAddress: c.PublicClient.HostPort,
			ClusterID: "00000000-0000-0000-0000-000000000001",
		}},
	}
	return c, nil
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// portOf returns the port of HOST:PORT or of a URL without a path; 0 without one.
func portOf(address string) int {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port) // 0: not a number
	return n
}

// free reports whether one can listen at a port.
func free(host string, port int) bool {
	l, err := net.Listen("tcp", hostPort(host, port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// freePort finds a port that no other process is given in the next minute: a connection that was accepted on it leaves
// it in TIME_WAIT, in which the system gives it only to a process that asks for its number.
func freePort(host string) (int, error) {
	l, err := net.Listen("tcp", hostPort(host, 0))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return 0, err
	}
	in, err := l.Accept()
	if err != nil {
		out.Close()
		return 0, err
	}
	in.Close() // first, so that this side, the port's, waits
	out.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// awaitAnswers returns when each of the server's services finds the namespace: they learn of it one by one, and a worker
// takes "not found" as final.
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

// nameUser sets a user's name and home where they are missing, as in a container that runs as any number: Temporal
// needs them.
func nameUser(home string) {
	for name, value := range map[string]string{"USER": "redsi", "HOME": home} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}
}
