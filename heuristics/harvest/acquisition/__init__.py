"""Which VMs a pool that is not fixed keeps, gives back and asks for."""
