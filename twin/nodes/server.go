package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// kubeletServer answers what the API server asks of a kubelet; one server stands for all nodes.
type kubeletServer struct {
	pods *podController
}

// newKubeletServer returns the HTTPS server; only holders of a certificate of the client authority get in.
func newKubeletServer(pods *podController, chosen options) (*http.Server, error) {
	pair, err := tls.LoadX509KeyPair(chosen.tlsCert, chosen.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	authority, err := os.ReadFile(chosen.clientCA)
	if err != nil {
		return nil, fmt.Errorf("--client-ca: %w", err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("--client-ca: %s holds no certificate", chosen.clientCA)
	}
	kubelet := &kubeletServer{pods: pods}
	return &http.Server{
		Handler:           kubelet.routes(),
		ReadHeaderTimeout: 10 * time.Second,
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientCAs: trusted, MinVersion: tls.VersionTLS12,
			ClientAuth: tls.RequireAndVerifyClientCert,
		},
		// exec upgrades its connection to SPDY, which HTTP/2 can't do.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}, nil
}

func (k *kubeletServer) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.exec)
	mux.HandleFunc("/exec/{namespace}/{pod}/{uid}/{container}", k.exec)
	for path, what := range map[string]string{"/attach/": "attach to a container", "/portForward/": "forward ports",
		"/run/": "run commands without exec"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the twin simulates this node and cannot "+what, http.StatusNotImplemented)
		})
	}
	return mux
}

// locate returns the pod and container that a request names, or answers that there is none.
func (k *kubeletServer) locate(w http.ResponseWriter, request *http.Request) (*corev1.Pod, *corev1.Container) {
	namespace, name, wanted := request.PathValue("namespace"), request.PathValue("pod"), request.PathValue("container")
	pod, err := k.pods.lister.Pods(namespace).Get(name)
	if err != nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", name), http.StatusNotFound)
		return nil, nil
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == wanted {
				return pod, &list[i]
			}
		}
	}
	http.Error(w, fmt.Sprintf("container %q not found in pod %q", wanted, name), http.StatusNotFound)
	return nil, nil
}
