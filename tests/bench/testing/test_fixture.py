"""Programs and plans made elsewhere, in the tests of another repository."""

import json

from schedgap.instances.provisioning import table3, write_instance

pytest_plugins = ["pytester"]


def test_programs_and_plans(repository, with_bounds, alone):
    """Every task of Table 3 alone costs $16.2, where $12.8 is the optimum: by a program, and by a plan in a file."""
    write_instance(table3(), repository.path / "table3.json")
    machines = [{"type": f"it{k}", "counts": {f"tau{k}": 1}} for k in (1, 2, 3, 4)]
    plan = {"schema": "schedgap/provisioning-solution/1", "machines": machines}
    (repository.path / "plan.json").write_text(json.dumps(plan))
    repository.makepyfile(
        test_mine=f"""
        import pytest
        from schedgap.bench import Program
        from schedgap.instances.provisioning import table3

        ALONE = {str(alone)!r}

        def test_program(gap):
            gaps = gap(Program.make("alone", ALONE))
            assert (gaps.method, gaps.runs, gaps.proven_optimal) == ("alone", 2, 0)
            assert gaps.per_instance["table3"] == pytest.approx(3.4 / 16.2)

        def test_program_among_plugins(gap):
            assert gap("alone", instances=[table3()], plugins=[Program.make("alone", ALONE)]).worst < 0.21

        @pytest.mark.parametrize("solution", ["plan.json", "best=plan.json"])
        def test_plan(gap, solution):
            gaps = gap(solution=solution, instances=["table3.json"])
            assert gaps.method in ("plan", "best")
            assert gaps.mean == pytest.approx(3.4 / 16.2)

        def test_one_file_is_one_instance(gap):
            assert gap("no-packing", instances="table3.json").runs == 1

        def test_plan_for_others(gap):
            gap(solution="plan.json")

        def test_no_plan(gap):
            gap(solution="none.json", instances=["table3.json"])

        def test_failing(gap):
            gap(Program.make("failing", ["sh", "-c", "echo so be it >&2; exit 7"]), instances=["table3.json"])

        def test_name_that_is_taken(gap):
            gap(Program.make("no-packing", ALONE))

        def test_policy_of_no_family(gap):
            gap(Program.make("alone", ALONE, kind="policy"), instances=["table3.json"])

        def test_nothing(gap):
            gap()

        def test_both(gap):
            gap("no-packing", solution="plan.json")
        """
    )
    answer = repository.runpytest_subprocess(with_bounds)
    answer.assert_outcomes(passed=5, failed=7)
    answer.stdout.fnmatch_lines(
        [
            "E *Failed: plan has no gap in 1 of 2 runs on tiny:",
            "E *table7-6-physical-s0: invalid, its answer is no solution: *",
            "E *Failed: MethodError: program none: there is no file */none.json; give its path from *",
            "E *Failed: failing has no gap in 1 of 1 runs on given instances:",
            "E *table3: crashed, the program exited with code 7",
            "E *On table3 it printed:",
            "E *so be it",
            "E *Failed: MethodError: family provisioning has a method 'no-packing' already; *",
            "E *Failed: MethodError: in family provisioning nothing is decided over time, *",
            "E *Failed: give a method, or a solution: a file, made for one of the instances.",
            "E *Failed: give a method, or a solution: a file, made for one of the instances.",
            "test_mine.py::test_program *alone *tiny *2 * 0 of 2",
        ]
    )
    answer.stdout.no_fnmatch_line("*Traceback*")
