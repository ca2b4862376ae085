package main

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// claimGetter finds a ResourceClaim by namespace and name.
type claimGetter func(namespace, name string) (*resourcev1.ResourceClaim, error)

// prepareClaims checks the claims of a pod as a kubelet and the NVIDIA driver do before the pod may start. It
// returns the error a kubelet reports, or nil.
func prepareClaims(pod *corev1.Pod, plan *Plan, node *NodePlan, get claimGetter) error {
	claims, err := podClaims(pod, get)
	if err != nil {
		return fmt.Errorf("prepare dynamic resources: %w", err)
	}
	for _, claim := range claims {
		if err := checkDriver(claim, node); err != nil {
			return fmt.Errorf("prepare dynamic resources: %w", err)
		}
	}
	for _, claim := range claims {
		if problem := prepare(claim, plan, node); problem != "" {
			return fmt.Errorf("prepare dynamic resources: NodePrepareResources failed for ResourceClaim %s: %s", claim.Name, problem)
		}
	}
	return nil
}

// podClaims returns the pod's claims by their name in the pod; each is allocated and reserved for the pod.
func podClaims(pod *corev1.Pod, get claimGetter) (map[string]*resourcev1.ResourceClaim, error) {
	claims := map[string]*resourcev1.ResourceClaim{}
	for i := range pod.Spec.ResourceClaims {
		reference := &pod.Spec.ResourceClaims[i]
		name, mustOwn, err := resourceclaim.Name(pod, reference)
		if err != nil {
			return nil, err
		}
		if name == nil {
			continue
		}
		claim, err := usableClaim(pod, *name, mustOwn, get)
		if err != nil {
			return nil, err
		}
		claims[reference.Name] = claim
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		claim, err := usableClaim(pod, extended.ResourceClaimName, true, get)
		if err != nil {
			return nil, err
		}
		claims[extendedClaim] = claim
	}
	return claims, nil
}

// extendedClaim stands for the claim that the scheduler made for extended resources; it cannot be a name in a pod.
const extendedClaim = "<extended-resources>"

func usableClaim(pod *corev1.Pod, name string, mustOwn bool, get claimGetter) (*resourcev1.ResourceClaim, error) {
	claim, err := get(pod.Namespace, name)
	if err != nil {
		return nil, fmt.Errorf("fetch ResourceClaim %s: %w", name, err)
	}
	if mustOwn {
		if err := resourceclaim.IsForPod(pod, claim, false); err != nil {
			return nil, err
		}
	}
	if !resourceclaim.IsReservedForPod(pod, claim, false) {
		return nil, fmt.Errorf("pod %s (%s) is not allowed to use ResourceClaim %s (%s)", pod.Name, pod.UID, name, claim.UID)
	}
	if claim.Status.Allocation == nil {
		return nil, fmt.Errorf("ResourceClaim %s: %w", name, errors.New("not allocated"))
	}
	return claim, nil
}

func checkDriver(claim *resourcev1.ResourceClaim, node *NodePlan) error {
	for _, result := range claim.Status.Allocation.Devices.Results {
		if result.Driver != driverName || node.GPUMode != modeDRA {
			return fmt.Errorf("DRA driver %s is not registered", result.Driver)
		}
	}
	return nil
}

// prepare is the driver's part; it returns what is wrong.
func prepare(claim *resourcev1.ResourceClaim, plan *Plan, node *NodePlan) string {
	if plan.shows(faultPrepareFails, node) {
		return fmt.Sprintf("error preparing devices for claim %s/%s:%s: the simulated driver was told to fail (fault %s)",
			claim.Namespace, claim.Name, claim.UID, faultPrepareFails)
	}
	for _, result := range claim.Status.Allocation.Devices.Results {
		if _, known := deviceIndex(node, result.Device); !known || result.Pool != node.Name {
			return fmt.Sprintf("requested device is not allocatable: %s of pool %s", result.Device, result.Pool)
		}
	}
	return ""
}

// claimedGPUs returns the indices of the GPUs that a container gets from the pod's claims.
func claimedGPUs(pod *corev1.Pod, container *corev1.Container, node *NodePlan,
	claims map[string]*resourcev1.ResourceClaim) []int {
	indices := []int{}
	add := func(claim *resourcev1.ResourceClaim, request string) {
		if claim == nil {
			return
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			base, _, _ := strings.Cut(result.Request, "/")
			index, known := deviceIndex(node, result.Device)
			if known && (request == "" || request == base || request == result.Request) {
				indices = append(indices, index)
			}
		}
	}
	for _, use := range container.Resources.Claims {
		add(claims[use.Name], use.Request)
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		for _, mapping := range extended.RequestMappings {
			if mapping.ContainerName == container.Name {
				add(claims[extendedClaim], mapping.RequestName)
			}
		}
	}
	return indices
}
