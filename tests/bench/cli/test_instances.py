"""`schedgap generate` and `schedgap import`."""

import pytest

from schedgap.instances.provisioning import read_instance


def test_arrays_beside_a_large_instance_are_not_written_over(tmp_path, schedgap):
    arrays = tmp_path / "i.arrays.npz"
    arrays.write_bytes(b"precious")
    arguments = ["generate", "provisioning", "distinct", "tasks=10001", "--out", tmp_path / "i.json"]
    code, out, err = schedgap(*arguments)
    assert (code, out) == (2, "")
    assert err == f"InstanceError: {arrays} exists and is not written over; choose another name or give --force.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["i.arrays.npz"]
    assert arrays.read_bytes() == b"precious"
    assert schedgap(*arguments, "--force")[0] == 0
    assert read_instance(tmp_path / "i.json").num_tasks == 10001


def test_import(schedgap, tmp_path, alibaba_csv):
    path = tmp_path / "trace.json"
    assert schedgap("import", "alibaba-gpu-v2023", alibaba_csv, "tasks=50", "seed=1", "--out", path)[0] == 0
    assert read_instance(path).num_tasks == 50


def test_import_of_tables_with_parameters_in_either_spelling(schedgap, tmp_path):
    """What the reader has to say goes to stderr; `--name value` is `name=value`."""
    (tmp_path / "m.csv").write_text("name,price,cpu,gpu\nm,1,4,1\n")
    (tmp_path / "t.csv").write_text("name,count,cpu\nx,3,2\n")
    machines, tasks = tmp_path / "m.csv", tmp_path / "t.csv"
    spelled = (
        ["--machines", machines, "--tasks", tasks],
        [f"--machines={machines}", f"tasks={tasks}"],
        [machines, "--tasks", tasks],
    )
    for number, given in enumerate(spelled):
        path = tmp_path / f"{number}.json"
        code, _, err = schedgap("import", "csv", *given, "--out", path)
        assert (code, err) == (0, "t.csv: no task asks for gpu, which are left out.\n")
        assert read_instance(path).digest == read_instance(tmp_path / "0.json").digest


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["csv", "m.csv", "--fasks", "t.csv"],
            "importer csv has no parameter 'fasks'; did you mean tasks? it has: machines, tasks, running",
        ),
        (["csv", "m.csv", "--tasks"], "'--tasks' has no value"),
        (["csv", "-p", "tasks=t.csv"], "there is no option '-p'"),
        (["csv", "--tasks", "a", "tasks=b"], "'tasks' is given twice, as 'a' and 'b'"),
        (["alibaba-gpu-v2023"], "importer alibaba-gpu-v2023 reads one file, 0 are given; give one"),
        (["alibaba-gpu-v2023", "a", "b"], "reads one file, 2 are given"),
        (["kubernetes", "a", "b", "--catalogue", "none.csv"], "none.csv: cannot be read"),
    ],
)
def test_mistakes_in_imports(schedgap, tmp_path, monkeypatch, given, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = schedgap("import", *given, "--out", "x.json")
    assert (code, out) == (2, "")
    assert message in err


def test_a_format_of_several_families(schedgap, tmp_path):
    log, path = tmp_path / "sacct.txt", tmp_path / "i.json"
    log.write_text(
        "JobID|State|Submit|Start|ElapsedRaw|AllocCPUS|NNodes|ReqMem\n1|TIMEOUT|0|5|60|2|1|4G\n2|PENDING|9||||1|\n"
    )
    code, out, err = schedgap("import", "slurm", log, "--out", path)
    assert (code, out, path.exists()) == (2, "", False)
    assert "InstanceError: format 'slurm' is read by reconfiguration, waiting; choose one by --family.\n" in err
    code, out, err = schedgap("import", "slurm", log, "--family", "waiting", "--out", path)
    assert (code, path.exists()) == (0, True)
    assert "sacct: left out, pending: 1 (2)." in err
    code, _, err = schedgap("import", "slurm", log, "--family", "fairness", "--out", tmp_path / "j.json")
    assert (code, "family fairness has no importer 'slurm'" in err) == (2, True)
