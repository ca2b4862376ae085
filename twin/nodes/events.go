package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// eventQueue writes events one after another at the slow pace of its client, so that thousands of starting pods
// do not crowd out the scheduler. It keeps all of them, where client-go's own recorder drops what it cannot send.
type eventQueue struct {
	client     kubernetes.Interface
	queue      workqueue.TypedInterface[*corev1.Event]
	correlator *record.EventCorrelator
}

func newEventQueue(client kubernetes.Interface) *eventQueue {
	return &eventQueue{
		client:     client,
		queue:      workqueue.NewTyped[*corev1.Event](),
		correlator: record.NewEventCorrelator(clock.RealClock{}),
	}
}

// add notes an event of a pod's kubelet.
func (q *eventQueue) add(pod *corev1.Pod, kind, reason, message string) {
	now := metav1.Now()
	q.queue.Add(&corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s.%x", pod.Name, time.Now().UnixNano()), Namespace: pod.Namespace,
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		},
		Type: kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: "kubelet", Host: pod.Spec.NodeName},
		ReportingController: "kubelet", ReportingInstance: pod.Spec.NodeName,
	})
}

// run writes events until the context ends.
func (q *eventQueue) run(ctx context.Context) {
	context.AfterFunc(ctx, q.queue.ShutDown)
	for {
		event, stopped := q.queue.Get()
		if stopped {
			return
		}
		for ctx.Err() == nil && !q.write(ctx, event) {
			time.Sleep(time.Second) // the API server is away; events wait for it
		}
		q.queue.Done(event)
	}
}

// write sends one event; a repetition of an earlier one raises its count. False means: try again later.
func (q *eventQueue) write(ctx context.Context, event *corev1.Event) bool {
	result, err := q.correlator.EventCorrelate(event)
	if err != nil || result.Skip {
		return true
	}
	client := q.client.CoreV1().Events(event.Namespace)
	var written *corev1.Event
	if result.Event.Count > 1 && len(result.Patch) > 0 {
		written, err = client.Patch(ctx, result.Event.Name, types.StrategicMergePatchType, result.Patch, metav1.PatchOptions{})
	}
	if result.Event.Count <= 1 || len(result.Patch) == 0 || apierrors.IsNotFound(err) {
		result.Event.ResourceVersion = ""
		written, err = client.Create(ctx, result.Event, metav1.CreateOptions{})
	}
	if err == nil {
		q.correlator.UpdateState(written)
		return true
	}
	// An answer from the server is final, for instance when the namespace is ending.
	return apierrors.ReasonForError(err) != metav1.StatusReasonUnknown
}
