"""The pytest plug-in."""

# The property of a test, and of its benchmark's information, under which its gaps are found.
PROPERTY = "schedgap"
