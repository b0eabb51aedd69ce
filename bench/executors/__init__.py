"""Many runs: on this machine, on a Dask cluster, on a Ray cluster."""
