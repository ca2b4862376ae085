package main

import (
	"context"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/ptr"
)

// nodeController keeps the Node objects, and the slices that belong to them, as the plan says.
type nodeController struct {
	client    kubernetes.Interface
	lister    corelisters.NodeLister
	plan      *planFile
	server    *serverWatch
	publisher *publisher
	port      int32
	// gone is told when a node has left the plan, so that its pods end too.
	gone func(node string)
}

// sync brings one node in line with the plan.
func (c *nodeController) sync(ctx context.Context, name string) error {
	if !c.plan.known() {
		return nil
	}
	plan := c.plan.get()
	node := plan.node(name)
	existing, err := c.lister.Get(name)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	switch {
	case node == nil:
		return c.remove(ctx, name, existing)
	case existing == nil:
		return c.create(ctx, plan, node)
	}
	updated, err := c.update(ctx, existing, plan, node)
	if err != nil {
		return err
	}
	return c.publish(ctx, updated, plan, node)
}

func (c *nodeController) create(ctx context.Context, plan *Plan, node *NodePlan) error {
	object := newNode(plan, node)
	object.Status.DaemonEndpoints.KubeletEndpoint.Port = c.port
	created, err := c.client.CoreV1().Nodes().Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil // the cache is behind; its event brings us back
	}
	if err != nil {
		return err
	}
	log.Printf("node %s created", node.Name)
	// Admission taints every new node as not ready; take that away without waiting for the cache.
	updated, err := c.update(ctx, created, plan, node)
	if err != nil {
		return ignoreConflict(err)
	}
	return c.publish(ctx, updated, plan, node)
}

func (c *nodeController) update(ctx context.Context, existing *corev1.Node, plan *Plan, node *NodePlan) (*corev1.Node, error) {
	wanted := existing.DeepCopy()
	applyMetadata(wanted, plan, node)
	if !equality.Semantic.DeepEqual(wanted, existing) {
		updated, err := c.client.CoreV1().Nodes().Update(ctx, wanted, metav1.UpdateOptions{})
		if err != nil {
			return nil, err
		}
		existing, wanted = updated, updated.DeepCopy()
	}
	applyStatus(wanted, plan, node, metav1.Now())
	wanted.Status.DaemonEndpoints.KubeletEndpoint.Port = c.port
	if equality.Semantic.DeepEqual(wanted.Status, existing.Status) {
		return existing, nil
	}
	return c.client.CoreV1().Nodes().UpdateStatus(ctx, wanted, metav1.UpdateOptions{})
}

func (c *nodeController) publish(ctx context.Context, object *corev1.Node, plan *Plan, node *NodePlan) error {
	specs := sliceSpecs(plan, node)
	if !c.server.servesDRA() {
		if len(specs) > 0 {
			c.server.missDRA(node.Name)
		}
		return nil
	}
	return c.publisher.sync(ctx, object, specs)
}

func (c *nodeController) remove(ctx context.Context, name string, existing *corev1.Node) error {
	if existing != nil {
		err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: ptr.To(existing.UID)},
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		log.Printf("node %s deleted", name)
	}
	c.gone(name)
	if !c.server.servesDRA() {
		return nil
	}
	return c.publisher.remove(ctx, name)
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
