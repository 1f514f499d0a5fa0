"""The CRMs, each as settings and policy open it; a further one is one more module and one line in `workers.compose`."""
