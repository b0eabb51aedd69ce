"""The rules by which Kubernetes clusters are run: Karpenter, cluster-autoscaler, kube-scheduler."""
