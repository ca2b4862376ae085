package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// followPause is how often a followed log looks for the container's end.
const followPause = 200 * time.Millisecond

// logOptions are the options of a log request, as the API server passes them on.
type logOptions struct {
	follow, previous, timestamps bool
	tail                         int
	bytes                        int64
	since                        time.Time
	stream                       string
}

func parseLogOptions(query url.Values) (logOptions, error) {
	options := logOptions{tail: -1, bytes: -1, stream: query.Get("stream")}
	for name, into := range map[string]*bool{
		"follow": &options.follow, "previous": &options.previous, "timestamps": &options.timestamps,
	} {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseBool(text)
			if err != nil {
				return options, fmt.Errorf("%s: %q is not a boolean", name, text)
			}
			*into = value
		}
	}
	numbers := map[string]int64{"tailLines": -1, "limitBytes": -1, "sinceSeconds": -1}
	for name := range numbers {
		if text := query.Get(name); text != "" {
			value, err := strconv.ParseInt(text, 10, 64)
			if err != nil || value < 0 {
				return options, fmt.Errorf("%s: %q is not a number", name, text)
			}
			numbers[name] = value
		}
	}
	options.tail, options.bytes = int(numbers["tailLines"]), numbers["limitBytes"]
	if seconds := numbers["sinceSeconds"]; seconds >= 0 {
		options.since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	if text := query.Get("sinceTime"); text != "" {
		since, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return options, fmt.Errorf("sinceTime: %q is not a time", text)
		}
		options.since = since
	}
	return options, nil
}

// logs answers `kubectl logs`.
func (k *kubeletServer) logs(w http.ResponseWriter, request *http.Request) {
	pod, container := k.locate(w, request)
	if pod == nil {
		return
	}
	options, err := parseLogOptions(request.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	number, problem := k.logNumber(pod, container, options.previous)
	if problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	source := k.pods.disk.loadRun(pod.UID, container.Name, number)
	printer := &logPrinter{w: w, options: options, source: source, left: options.bytes}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusOK)
	printer.print(time.Now())
	for options.follow && !printer.full && k.running(pod, container, number) {
		select {
		case <-request.Context().Done():
			return
		case <-time.After(followPause):
			printer.print(time.Now())
		}
	}
	printer.print(time.Now())
}

// logNumber says which start of the container is meant, or why there is no output.
func (k *kubeletServer) logNumber(pod *corev1.Pod, container *corev1.Container, previous bool) (int32, string) {
	record := k.pods.find(pod.Namespace, pod.Name)
	waits := fmt.Sprintf("container %q in pod %q is waiting to start: ", container.Name, pod.Name)
	if record == nil {
		return 0, waits + reasonCreating
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	status := record.containerStatus(container.Name)
	switch {
	case status == nil:
		return 0, waits + reasonCreating
	case previous && status.LastTerminationState.Terminated == nil:
		return 0, fmt.Sprintf("previous terminated container %q in pod %q not found", container.Name, pod.Name)
	case previous:
		return status.RestartCount - 1, ""
	case status.State.Waiting != nil && status.LastTerminationState.Terminated != nil:
		return status.RestartCount - 1, "" // between two starts
	case status.State.Waiting != nil:
		return 0, waits + status.State.Waiting.Reason
	}
	return status.RestartCount, ""
}

// running tells whether a start of a container is still running.
func (k *kubeletServer) running(pod *corev1.Pod, container *corev1.Container, number int32) bool {
	record := k.pods.find(pod.Namespace, pod.Name)
	if record == nil || record.uid != pod.UID {
		return false
	}
	record.mu.Lock()
	defer record.mu.Unlock()
	status := record.containerStatus(container.Name)
	return status != nil && status.RestartCount == number && status.State.Running != nil
}

// logPrinter writes the lines of a run whose moment has come.
type logPrinter struct {
	w       http.ResponseWriter
	options logOptions
	source  *containerRun
	done    int
	left    int64
	full    bool
	begun   bool
}

func (p *logPrinter) print(now time.Time) {
	due := p.done
	for due < len(p.source.Run.Lines) && !p.source.Start.Add(p.source.Run.Lines[due].At).After(now) {
		due++
	}
	fresh := p.source.Run.Lines[p.done:due]
	p.done = due
	chosen := []string{}
	for _, entry := range fresh {
		if text, wanted := p.format(entry); wanted {
			chosen = append(chosen, text)
		}
	}
	if !p.begun && p.options.tail >= 0 && len(chosen) > p.options.tail {
		chosen = chosen[len(chosen)-p.options.tail:]
	}
	p.begun = true
	for _, text := range chosen {
		p.write(text)
	}
	if flusher, ok := p.w.(http.Flusher); ok {
		flusher.Flush()
	}
}

func (p *logPrinter) format(entry line) (string, bool) {
	when := p.source.Start.Add(entry.At)
	stream := "Stdout"
	if entry.Stderr {
		stream = "Stderr"
	}
	if when.Before(p.options.since) || p.options.stream != "" && p.options.stream != "All" && p.options.stream != stream {
		return "", false
	}
	if p.options.timestamps {
		return when.UTC().Format(time.RFC3339Nano) + " " + entry.Text + "\n", true
	}
	return entry.Text + "\n", true
}

func (p *logPrinter) write(text string) {
	if p.options.bytes >= 0 {
		text = text[:min(int64(len(text)), p.left)]
		p.left -= int64(len(text))
		p.full = p.left == 0
	}
	if _, err := strings.NewReader(text).WriteTo(p.w); err != nil {
		p.full = true // the reader has left
	}
}
