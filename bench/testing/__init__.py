"""The pytest plug-in, and the judge for searches.

    def test_mine(gap):
        assert gap(my_function, suite="smoke").mean <= 0.02

The fixture `gap` is there wherever the package is installed; docs/pytest.md documents it.
"""

# The property of a test, and of its benchmark's information, under which its gaps are found.
PROPERTY = "schedgap"
