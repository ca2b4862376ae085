package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
)

// serve plays the nodes until the context ends.
func serve(ctx context.Context, chosen options) error {
	listener, err := net.Listen("tcp", chosen.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer listener.Close()
	_, portText, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	port, err := strconv.ParseInt(portText, 10, 32)
	if err != nil {
		return err
	}
	load := &traffic{}
	clients, err := newClients(chosen.kubeconfig, load)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	disk := store{filepath.Join(filepath.Dir(chosen.plan), "kubelet")}
	nodes := newCluster(clients, newPlanFile(chosen.plan), disk, load, int32(port))
	server, err := newKubeletServer(nodes.pods, chosen)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(ignoreClosed(server.ServeTLS(listener, "", ""))) }()
	go func() { cancel(nodes.run(ctx)) }()
	<-ctx.Done()
	_ = server.Close() // ends the requests that are still following logs
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause
	}
	return nil
}

func ignoreClosed(err error) error {
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}
