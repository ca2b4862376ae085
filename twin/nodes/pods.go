package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// podController is the pod part of all kubelets.
type podController struct {
	client  kubernetes.Interface
	lister  corelisters.PodLister
	nodes   corelisters.NodeLister
	claims  *draClaims
	plan    *planFile
	disk    store
	events  *eventQueue
	ledger  *pluginLedger
	address *addresses
	// again asks for another sync of a pod after a delay.
	again func(key string, delay time.Duration)

	mu      sync.Mutex
	records map[string]*podRecord
}

// restore takes up what was running before a restart. It must run before the first sync: only then is it known which
// addresses and device-plugin GPUs are taken.
func (c *podController) restore(pods []*corev1.Pod) {
	present := map[types.UID]bool{}
	for _, pod := range pods {
		present[pod.UID] = true
		if pod.Status.StartTime != nil {
			c.record(pod)
		}
	}
	for _, uid := range c.disk.known() {
		if !present[uid] {
			c.disk.forget(uid)
		}
	}
}

// record returns the memory of a pod, made from the API server's data the first time.
func (c *podController) record(pod *corev1.Pod) *podRecord {
	key := pod.Namespace + "/" + pod.Name
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.records[key]
	if known != nil && known.uid == pod.UID {
		return known
	}
	if known != nil {
		c.drop(known)
	}
	record := recall(pod, c.disk)
	c.records[key] = record
	if !record.finished() {
		c.address.claim(pod.UID, record.status.PodIP)
		if given := c.disk.loadPlugin(pod.UID); len(given) > 0 {
			c.ledger.restore(record.node, pod.UID, given)
		}
	}
	return record
}

// find returns the memory of a pod by name; nil when there is none.
func (c *podController) find(namespace, name string) *podRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[namespace+"/"+name]
}

// forget drops everything about a pod that is gone from the API server.
func (c *podController) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if record := c.records[key]; record != nil {
		c.drop(record)
		delete(c.records, key)
	}
}

func (c *podController) drop(record *podRecord) {
	c.release(record)
	c.disk.forget(record.uid)
}

func (c *podController) release(record *podRecord) {
	c.ledger.release(record.node, record.uid)
	c.address.free(record.uid, record.status.PodIP)
}

// sync carries one pod on.
func (c *podController) sync(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	pod, err := c.lister.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		c.forget(key)
		return nil
	}
	if err != nil || !c.plan.known() {
		return err
	}
	plan := c.plan.get()
	node := plan.node(pod.Spec.NodeName)
	if node == nil && c.nodeExists(pod.Spec.NodeName) {
		return nil
	}
	record := c.record(pod)
	record.mu.Lock()
	defer record.mu.Unlock()
	step := c.step(pod, record, plan, node)
	leaving := pod.DeletionTimestamp != nil || node == nil
	if leaving {
		if !record.finished() {
			step.stop("", "")
		}
	} else if err := step.advance(); err != nil {
		return err
	}
	if err := c.send(ctx, pod, record); err != nil {
		return err
	}
	if record.finished() {
		c.release(record)
	}
	if leaving {
		return c.delete(ctx, pod, record)
	}
	if step.wake > 0 {
		c.again(key, step.wake)
	}
	return nil
}

// nodeExists tells whether a pod's node is there. A pod of a node that is gone ends, as the pod garbage collector
// would see to a little later.
func (c *podController) nodeExists(name string) bool {
	_, err := c.nodes.Get(name)
	return err == nil
}

func (c *podController) step(pod *corev1.Pod, record *podRecord, plan *Plan, node *NodePlan) *podStep {
	return &podStep{
		pod: pod, record: record, node: node, plan: plan, now: time.Now(), disk: c.disk,
		prepare: func() (func(*corev1.Container) grants, error) { return c.prepare(pod, plan, node) },
		admit:   func() error { return c.admit(pod, node) },
		address: func() (string, error) { return c.address.next(pod.UID) },
		event:   func(kind, reason, message string) { c.events.add(pod, kind, reason, message) },
	}
}

func (c *podController) admit(pod *corev1.Pod, node *NodePlan) error {
	if node.GPUMode != modeDevicePlugin {
		return nil
	}
	given, err := c.ledger.assign(pod, node)
	if err != nil {
		// A pod deleted without a grace period is gone before its own sync; the scheduler has given its GPUs away by then.
		c.ledger.keep(node.Name, c.isPresent)
		given, err = c.ledger.assign(pod, node)
	}
	if err != nil {
		return err
	}
	return c.disk.savePlugin(pod.UID, given)
}

// isPresent tells whether the API server still has a pod.
func (c *podController) isPresent(uid types.UID) bool {
	pods, err := c.lister.List(labels.Everything())
	return err != nil || slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return pod.UID == uid })
}

// prepare returns what each container of a pod is granted, once its claims are in order.
func (c *podController) prepare(pod *corev1.Pod, plan *Plan, node *NodePlan) (func(*corev1.Container) grants, error) {
	err := prepareClaims(pod, plan, node, c.claims.cached)
	if err != nil {
		// The cache may be behind the scheduler; what counts is the API server's answer.
		err = prepareClaims(pod, plan, node, c.claims.live)
	}
	if err != nil {
		return nil, err
	}
	return c.grants(pod, node)
}

func (c *podController) grants(pod *corev1.Pod, node *NodePlan) (func(*corev1.Container) grants, error) {
	if node.GPUMode == modeDevicePlugin {
		given, err := c.ledger.assign(pod, node)
		if err != nil {
			return nil, err
		}
		return func(container *corev1.Container) grants { return grant(node, given[container.Name], false) }, nil
	}
	claims, err := podClaims(pod, c.claims.cached)
	if err != nil {
		claims, err = podClaims(pod, c.claims.live)
	}
	if err != nil {
		return nil, err
	}
	return func(container *corev1.Container) grants {
		return grant(node, claimedGPUs(pod, container, node, claims), true)
	}, nil
}

// send writes the status when it has changed.
func (c *podController) send(ctx context.Context, pod *corev1.Pod, record *podRecord) error {
	if !record.unsent || record.gone {
		return nil
	}
	body, err := json.Marshal(record.patch())
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body,
		metav1.PatchOptions{}, "status")
	if err != nil && !isOver(err) {
		return fmt.Errorf("status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	record.unsent = false
	return nil
}

// delete lets the API server remove a pod whose containers have stopped.
func (c *podController) delete(ctx context.Context, pod *corev1.Pod, record *podRecord) error {
	if record.gone {
		return nil
	}
	err := c.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: ptr.To(pod.UID)},
	})
	if err != nil && !isOver(err) {
		return fmt.Errorf("deleting pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	record.gone = true
	return nil
}

// isOver tells whether an answer means that this very pod is there no longer.
func isOver(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err)
}

// logFailure reports a failed sync unless it is only a race with another writer.
func logFailure(what, key string, err error) {
	if !apierrors.IsConflict(err) {
		log.Printf("%s %s: %v (tried again)", what, key, err)
	}
}
