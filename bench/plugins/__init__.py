"""Families and methods: finding them, and what plug-ins are made of and say of themselves."""
