"""The rules of a pool of harvest VMs over time, compiled: state, events, leases, and the plain rule."""
