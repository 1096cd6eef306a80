"""The Gaussian-process surrogate: kernels, finite features, and the belief that measurements update."""
