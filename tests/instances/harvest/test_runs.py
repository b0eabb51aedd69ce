from schedgap.instances.harvest import run_results

X = [(0, 1, 0, 40), (1, 1, 40, 80)]


def test_what_was_lost(trio, runs):
    # Run 0 starts over; run 3 has saved 4 x 10 s in 58 s of which 4 x 2 s were stops, and lost 1 s.
    schedule = runs((0, 0, 5, 25), *X, (2, 0, 10, 59, 10), (2, 0, 60, 73, 10))
    results = run_results(trio, schedule)
    assert results.completing.tolist() == [1, 2, 4]
    assert results.is_completing.tolist() == [False, True, True, False, True]
    assert results.lost_ms.tolist() == [20_000, 0, 0, 1000, 0]
    # Task 0 runs from 0 to 40 s, from 5 to 25 s twice.
    assert results.busy_ms.tolist() == [40_000, 40_000, 49_000 + 13_000]


def test_all_is_lost_of_a_run_that_takes_no_checkpoint(trio, runs):
    # Also the restoring: the second run is killed in the middle of it, the third after 4 s of work.
    schedule = runs(*X, (2, 0, 10, 59, 10), (2, 0, 60, 61, 10), (2, 0, 70, 77, 10), (2, 0, 80, 93))
    assert run_results(trio, schedule).lost_ms.tolist() == [0, 0, 1000, 1000, 7000, 0]


def test_of_replicas_one_completes(trio, runs):
    wide = trio.replace(event_cores=[16, 4, 0, 8, 16])
    schedule = runs((2, 0, 10, 60), (0, 1, 0, 40), (1, 1, 10, 50), (1, 0, 10, 50), (1, 0, 5, 15), (0, 0, 10, 40))
    results = run_results(wide, schedule)
    # Of the two that would complete task 1 at 50 s the first given does.
    assert results.completing.tolist() == [1, 2, 0]
    assert results.lost_ms.tolist() == [0, 0, 0, 40_000, 10_000, 30_000]
    assert results.busy_ms.tolist() == [40_000, 45_000, 50_000]


def test_gaps_are_not_busy(trio, runs):
    schedule = runs((0, 0, 0, 10), (0, 1, 0, 15), (0, 0, 20, 50), (0, 1, 60, 100), (1, 1, 0, 40), (2, 0, 10, 60))
    assert run_results(trio, schedule).busy_ms.tolist() == [15_000 + 30_000 + 40_000, 40_000, 50_000]
