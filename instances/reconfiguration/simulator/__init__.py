"""The simulator of provisioning over time: machines boot, tasks are launched, contend, progress and move."""
