"""The rule book: what must hold for GPUs on AKS, each rule once. Ask it through `aksgpu.rules.book`."""
