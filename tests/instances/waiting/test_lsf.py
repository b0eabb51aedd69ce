import gzip

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import lsf_csv

HEADER = "job_id,submit_time,runtime,num_cores,total_MB_req,user\n"


def test_columns_are_found_by_name(tmp_path):
    (tmp_path / "log.csv").write_text("\ufeff" + HEADER + '0,2e1, 60.5,2,4096,"a,b"\n1,+10,30,1,.5,b\n2,30,0,1,1,c\n')
    instance = lsf_csv(tmp_path / "log.csv")
    assert (instance.submit_us / 1e6).tolist() == [0, 10]
    assert (instance.runtime_us / 1e6).tolist() == [30, 60.5]
    assert instance.cores.tolist() == [1, 2]
    assert instance.memory_mib.tolist() == [1, 4096]
    assert instance.notes == ("log: 1 of 3 jobs left out, since they never ran.",)


def test_gzip_reads_the_same(tmp_path):
    (tmp_path / "log.csv").write_text(HEADER + "0,20,60,2,4096,a\n")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes()))
    assert lsf_csv(tmp_path / "log.csv.gz").digest == lsf_csv(tmp_path / "log.csv").digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "0,20,60,2,4096,a\n1,x,60,2,4096,a\n", "log.csv line 3: submit_time is 'x'; give a number"),
        (HEADER + "0,-1,60,2,4096,a\n", "log.csv line 2: submit_time is '-1'; give a number, from 0 on"),
        (HEADER + "0,1,60,,4096,a\n", "line 2: num_cores is empty; give a number"),
        *[(HEADER + f"0,1,60,{text},4096,a\n", f"num_cores is '{text}'") for text in ("True", "1_0", "nan", "1e999")],
        (HEADER + "0,1,60,2,4096,a,b\n", "line 2: 7 fields, the header has 6"),
        (HEADER + "0,1,60,2,4096,a\n0,1,60,2,4096,a,b\n", "line 3: 7 fields, the header has 6"),
        (HEADER + "0,1,60,2,4096\n", "line 2: 5 fields, the header has 6"),
        (HEADER.replace("user", "runtime") + "0,1,60,2,4096,6\n", "column 'runtime' is there twice"),
        ("\n" + HEADER + "\n0,1,60,2,4096,a\n\n1,1,60,x,4096,a\n", "line 6: num_cores is 'x'"),
        (
            HEADER + "\n0,5,1e14,1,100,a\n",
            "csv line 3: the job runs for 100000000000000 s, more than 2305843009213; mend or",
        ),
        ("a,b\n1,2\n", "no column 'submit_time'; a job log has submit_time, runtime, num_cores, total_MB_req"),
        ("", "log.csv line 1: no column"),
        (HEADER, "log: no job is left of 0"),
    ],
)
def test_a_faulty_log(tmp_path, text, message):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(InstanceError, match=message):
        lsf_csv(tmp_path / "log.csv")


def test_no_log(tmp_path):
    with pytest.raises(InstanceError, match="cannot be read"):
        lsf_csv(tmp_path / "missing.csv")
