package main

import (
	"context"
	"sync"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// draClaims finds claims: in a cache, which exists only once the API server serves them, or at the server.
type draClaims struct {
	client kubernetes.Interface

	mu    sync.Mutex
	store cache.Store
}

func (d *draClaims) use(store cache.Store) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.store = store
}

func (d *draClaims) cached(namespace, name string) (*resourcev1.ResourceClaim, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.store != nil {
		found, exists, err := d.store.GetByKey(namespace + "/" + name)
		if claim, ok := found.(*resourcev1.ResourceClaim); err == nil && exists && ok {
			return claim, nil
		}
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("resourceclaims"), name)
}

func (d *draClaims) live(namespace, name string) (*resourcev1.ResourceClaim, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return d.client.ResourceV1().ResourceClaims(namespace).Get(ctx, name, metav1.GetOptions{})
}

// atomicIndexer is a cache that exists only later.
type atomicIndexer struct {
	mu      sync.Mutex
	indexer cache.Indexer
}

func (a *atomicIndexer) use(indexer cache.Indexer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.indexer = indexer
}

func (a *atomicIndexer) byIndex(name, value string) []any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.indexer == nil {
		return nil
	}
	found, err := a.indexer.ByIndex(name, value)
	if err != nil {
		return nil // there is no such index; startDRA adds it
	}
	return found
}
