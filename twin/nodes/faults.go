package main

// The faults that nodes can show; twin/faults.py describes them.
const (
	faultNotReady        = "node-not-ready"
	faultNoSlices        = "no-slices"
	faultIncompletePool  = "incomplete-pool"
	faultStaleGeneration = "stale-generation"
	faultTaintedDevices  = "tainted-devices"
	faultPrepareFails    = "prepare-fails"
	faultImagePull       = "image-pull"
)

var nodeFaults = []string{
	faultNotReady, faultNoSlices, faultIncompletePool, faultStaleGeneration, faultTaintedDevices,
	faultPrepareFails, faultImagePull,
}

// shows tells whether a fault is on for a node. A fault without a pool is on for every node.
func (p *Plan) shows(fault string, node *NodePlan) bool {
	pool, on := p.Faults[fault]
	return on && (pool == nil || *pool == node.Pool)
}
