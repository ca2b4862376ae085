package main

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	nodeWorkers = 4
	podWorkers  = 8
	nodeIndex   = "node"
)

type queue = workqueue.TypedRateLimitingInterface[string]

// cluster joins the controllers that play the nodes of one cluster: caches on one side, work queues on the other.
type cluster struct {
	client    kubernetes.Interface
	plan      *planFile
	server    *serverWatch
	nodes     *nodeController
	pods      *podController
	publisher *publisher
	events    *eventQueue
	claims    *draClaims

	nodeQueue, podQueue queue
	nodeLister          corelisters.NodeLister
	podIndexer          cache.Indexer
	factories           []informers.SharedInformerFactory
	// started is closed when the ordinary caches are full; DRA's caches come later, or never.
	started chan struct{}
	draOnce sync.Once
	slices  atomicIndexer
}

func newCluster(clients clients, plan *planFile, disk store, load *traffic, port int32) *cluster {
	all := newFactory(clients.control)
	// Pods that wait for the scheduler are nobody's yet.
	bound := newFactory(clients.control, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
		options.FieldSelector = "spec.nodeName!="
	}))
	c := &cluster{
		client: clients.control, plan: plan, events: newEventQueue(clients.events), claims: &draClaims{client: clients.control},
		server:    &serverWatch{client: clients.control.Discovery().RESTClient()},
		nodeQueue: newQueue(), podQueue: newQueue(),
		nodeLister: all.Core().V1().Nodes().Lister(), podIndexer: bound.Core().V1().Pods().Informer().GetIndexer(),
		factories: []informers.SharedInformerFactory{all, bound}, started: make(chan struct{}),
	}
	c.publisher = &publisher{client: clients.control, list: c.cachedSlices, published: map[string]publication{}}
	c.nodes = &nodeController{
		client: clients.control, lister: c.nodeLister, plan: plan, server: c.server, publisher: c.publisher,
		port: port, gone: c.queuePodsOf,
	}
	c.pods = &podController{
		client: clients.status, lister: bound.Core().V1().Pods().Lister(), nodes: c.nodeLister, claims: c.claims,
		plan: plan, disk: disk, events: c.events, ledger: newPluginLedger(), address: newAddresses(),
		again: c.podQueue.AddAfter, records: map[string]*podRecord{},
	}
	watch(all.Core().V1().Nodes().Informer(), c.nodeQueue)
	watch(bound.Core().V1().Pods().Informer(), c.podQueue)
	// Adding also stands for binding: the cache holds bound pods only.
	_, _ = bound.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(_ any, atStart bool) {
			if !atStart {
				load.bound(time.Now())
			}
		},
	})
	plan.changed = c.queueAll
	c.server.changed = c.serverChanged
	return c
}

func newFactory(client kubernetes.Interface, tuning ...informers.SharedInformerOption) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, append(tuning, informers.WithTransform(dropManagedFields))...)
}

// dropManagedFields keeps the caches small: nothing here reads who wrote which field.
func dropManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

func newQueue() queue {
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 5*time.Second))
}

// watch queues the key of every object that changes.
func watch(informer cache.SharedIndexInformer, target queue) {
	add := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			target.Add(key)
		}
	}
	listen(informer, add)
}

func listen(informer cache.SharedIndexInformer, call func(any)) {
	// Only an informer that has been stopped refuses a handler.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: call, DeleteFunc: call, UpdateFunc: func(_, updated any) { call(updated) },
	})
}

// run plays the nodes until the context ends.
func (c *cluster) run(ctx context.Context) error {
	for _, factory := range c.factories {
		factory.Start(ctx.Done())
	}
	for _, factory := range c.factories {
		for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
			if !synced {
				return nil // the context has ended
			}
		}
	}
	// The first look decides whether claims can be read at all, which the pods below need.
	c.server.lookUntilKnown(ctx)
	c.pods.restore(c.boundPods())
	close(c.started)
	go c.events.run(ctx)
	go c.server.follow(ctx)
	for range nodeWorkers {
		go work(ctx, "node", c.nodeQueue, c.nodes.sync)
	}
	for range podWorkers {
		go work(ctx, "pod", c.podQueue, c.pods.sync)
	}
	context.AfterFunc(ctx, func() {
		c.nodeQueue.ShutDown()
		c.podQueue.ShutDown()
	})
	return c.plan.follow(ctx)
}

// work carries queued keys out, and queues a failed one again after a while.
func work(ctx context.Context, what string, source queue, sync func(context.Context, string) error) {
	for {
		key, stopped := source.Get()
		if stopped {
			return
		}
		if err := sync(ctx, key); err != nil && ctx.Err() == nil {
			logFailure(what, key, err)
			source.AddRateLimited(key)
		} else {
			source.Forget(key)
		}
		source.Done(key)
	}
}

// queueAll looks at every node and pod again: the plan or the server has changed.
func (c *cluster) queueAll() {
	for _, node := range c.plan.get().Nodes {
		c.nodeQueue.Add(node.Name)
	}
	nodes, err := c.nodeLister.List(labels.Everything())
	if err == nil { // a cache does not fail
		for _, node := range nodes {
			c.nodeQueue.Add(node.Name)
		}
	}
	for _, pod := range c.boundPods() {
		c.podQueue.Add(pod.Namespace + "/" + pod.Name)
	}
}

func (c *cluster) queuePodsOf(node string) {
	for _, pod := range c.boundPods() {
		if pod.Spec.NodeName == node {
			c.podQueue.Add(pod.Namespace + "/" + pod.Name)
		}
	}
}

func (c *cluster) boundPods() []*corev1.Pod {
	list := []*corev1.Pod{}
	for _, object := range c.podIndexer.List() {
		if pod, ok := object.(*corev1.Pod); ok {
			list = append(list, pod)
		}
	}
	return list
}

// serverChanged uses what the API server of another version serves.
func (c *cluster) serverChanged(ctx context.Context) {
	c.publisher.forget()
	if c.server.servesDRA() {
		c.draOnce.Do(func() { c.startDRA(ctx) })
	}
	c.queueAll()
}

// startDRA fills the caches of claims and slices.
func (c *cluster) startDRA(ctx context.Context) {
	factory := newFactory(c.client)
	claims := factory.Resource().V1().ResourceClaims().Informer()
	slices := factory.Resource().V1().ResourceSlices().Informer()
	// An empty index name or a second index of one name are the only errors, and neither is the case.
	_ = slices.AddIndexers(cache.Indexers{nodeIndex: sliceNode})
	listen(claims, c.claimChanged)
	listen(slices, c.sliceChanged)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	c.claims.use(claims.GetStore())
	c.slices.use(slices.GetIndexer())
}

func sliceNode(object any) ([]string, error) {
	if slice, ok := object.(*resourcev1.ResourceSlice); ok && slice.Spec.NodeName != nil {
		return []string{*slice.Spec.NodeName}, nil
	}
	return nil, nil
}

// claimChanged looks again at the pods that may use a claim.
func (c *cluster) claimChanged(object any) {
	claim, ok := object.(*resourcev1.ResourceClaim)
	if !ok {
		return
	}
	for _, consumer := range claim.Status.ReservedFor {
		key := claim.Namespace + "/" + consumer.Name
		if _, exists, err := c.podIndexer.GetByKey(key); exists && err == nil {
			c.podQueue.Add(key)
		}
	}
}

// sliceChanged looks again at the node of a slice, so that a deleted slice is published anew.
func (c *cluster) sliceChanged(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if nodes, err := sliceNode(object); err == nil {
		for _, node := range nodes {
			c.nodeQueue.Add(node)
		}
	}
}

func (c *cluster) cachedSlices(node string) []*resourcev1.ResourceSlice {
	list := []*resourcev1.ResourceSlice{}
	for _, object := range c.slices.byIndex(nodeIndex, node) {
		if slice, ok := object.(*resourcev1.ResourceSlice); ok && slice.Spec.Driver == driverName {
			list = append(list, slice)
		}
	}
	return list
}
