"""Seeded generators of provisioning instances."""

from schedgap.instances.provisioning.generators.alibaba_like import alibaba_like, alibaba_like_running
from schedgap.instances.provisioning.generators.distinct import distinct
from schedgap.instances.provisioning.generators.eva import table3, table7

__all__ = ["alibaba_like", "alibaba_like_running", "distinct", "table3", "table7"]
