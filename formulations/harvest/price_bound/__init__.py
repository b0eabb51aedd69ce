"""The bound of prices on the cores of all VMs."""
