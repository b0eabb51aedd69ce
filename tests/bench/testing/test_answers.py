"""What a test says of a scheduler that returns no solution: one sentence, however many instances there are."""

pytest_plugins = ["pytester"]


def test_a_list(repository, with_bounds):
    repository.makepyfile(test_mine="def test_mine(gap):\n    gap(lambda instance: [0, 1])\n")
    answer = repository.runpytest_subprocess(with_bounds)
    answer.assert_outcomes(failed=1)
    answer.stdout.fnmatch_lines(
        [
            "E *Failed: lambda has no gap in 2 of 2 runs on tiny:",
            "E *each of them: invalid, it returned a list, and a solution is a Provisioning, made by *; return one",
        ]
    )
