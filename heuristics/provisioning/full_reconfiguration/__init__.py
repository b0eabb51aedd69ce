"""Eva's Full Reconfiguration, and its kernels."""
