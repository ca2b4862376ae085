package main

import (
	"context"
	"encoding/json"
	"log"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/flowcontrol"
)

// clients are three connections to one API server, each with a pace of its own.
type clients struct {
	control, status, events *kubernetes.Clientset
}

func newClients(kubeconfig string, load *traffic) (clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return clients{}, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = "aksgpu-nodes"
	paces := [3]flowcontrol.RateLimiter{
		flowcontrol.NewTokenBucketRateLimiter(controlQPS, controlQPS),
		newPacer(load, statusQPS, statusBurst),
		newPacer(load, eventQPS, eventBurst),
	}
	made := [3]*kubernetes.Clientset{}
	for i, pace := range paces {
		paced := rest.CopyConfig(config)
		paced.RateLimiter = pace
		if made[i], err = kubernetes.NewForConfig(paced); err != nil {
			return clients{}, err
		}
	}
	return clients{control: made[0], status: made[1], events: made[2]}, nil
}

// serverWatch notices that the API server came back as another version: fields and groups that an older one
// did not serve can then be used.
type serverWatch struct {
	client  rest.Interface
	changed func(context.Context)

	mu     sync.Mutex
	last   string
	dra    bool
	missed string
}

func (w *serverWatch) servesDRA() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dra
}

// missDRA says once per server version that nodes are meant for DRA and the server does not serve it.
func (w *serverWatch) missDRA(node string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.missed == w.last {
		return
	}
	w.missed = w.last
	log.Printf("node %s is planned for DRA, but this API server does not serve resource.k8s.io/v1: no ResourceSlices", node)
}

// follow asks for the version about once a second until the context ends.
func (w *serverWatch) follow(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookUntilKnown returns once the server has told its version.
func (w *serverWatch) lookUntilKnown(ctx context.Context) {
	for ctx.Err() == nil {
		w.look(ctx)
		if w.known() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *serverWatch) known() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last != ""
}

func (w *serverWatch) look(ctx context.Context) {
	body, err := w.client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return // down or restarting; asked again in a second
	}
	w.mu.Lock()
	same := w.last == string(body)
	w.mu.Unlock()
	if same {
		return
	}
	_, err = w.client.Get().AbsPath("/apis/resource.k8s.io/v1").Do(ctx).Raw()
	if err != nil && !apierrors.IsNotFound(err) {
		return
	}
	w.mu.Lock()
	w.last, w.dra = string(body), err == nil
	w.mu.Unlock()
	log.Printf("API server %s, resource.k8s.io/v1 served: %v", gitVersion(body), err == nil)
	w.changed(ctx)
}

func gitVersion(body []byte) string {
	answer := struct {
		GitVersion string `json:"gitVersion"`
	}{}
	if json.Unmarshal(body, &answer) != nil {
		return "of unknown version"
	}
	return answer.GitVersion
}
