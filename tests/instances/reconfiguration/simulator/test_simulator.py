"""The compiled simulator on schedules whose times are known by hand."""

import pytest

from schedgap.instances.reconfiguration.verify import paid_s, played, verify


def test_alone_a_job_boots_fetches_builds_starts_and_works(two_jobs, schedule_of):
    instance = two_jobs()
    # Job 0: 3 + 7 boot, 1 fetch, 4 build, 5 init, 100 work: ends at 120, is still in the plan of 120, gone at 180.
    # Job 1 is planned at 60: 10 boot, 2 fetch, 50 work: ends at 122.
    schedule = schedule_of([(0, 0, 180), (0, 60, 180)], [(0, 0, 0), (60, 1, 1)])
    simulator = played(instance, schedule)
    assert simulator.jobs["finish"].tolist() == [120, 122]
    assert simulator.jobs["executed"].tolist() == [100, 50]
    assert paid_s(simulator).tolist() == [181 - 3, 181 - 63]
    assert verify(instance, schedule) == (178 + 118) * 1000


def test_together_jobs_slow_each_other_down(two_jobs, schedule_of):
    instance = two_jobs()
    # Job 0 progresses from 20; job 1 is sent to its machine at 60 and contends from 62. Job 0 has done 42 then, and goes
    # on at half its rate; job 1 at 0.8 ends after 62.5 s, at 125 (rounded up). Job 0 has then done 42 + 31.5 and needs
    # 26.5 more: it ends at 152 (rounded up).
    schedule = schedule_of([(0, 0, 180)], [(0, 0, 0), (60, 1, 0)])
    simulator = played(instance, schedule)
    assert simulator.jobs["finish"].tolist() == [152, 125]


def test_a_move_stops_saves_and_launches_anew(two_jobs, schedule_of):
    instance = two_jobs()
    # At 60, job 0 has done 40 of 100. It works on until 61 (41), saves until 63, while its new machine boots until 70;
    # then 1 fetch, 4 build, 5 init: goes on at 80 and ends at 139. The first machine is paid until 63 + 1.
    schedule = schedule_of([(0, 0, 60), (0, 60, 180), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    simulator = played(instance, schedule)
    assert simulator.jobs[0].finish == 139
    assert simulator.jobs["moves"].tolist() == [1, 0]
    assert paid_s(simulator).tolist() == [61, 118, 118]


def test_an_image_is_built_once_a_machine(two_jobs, schedule_of):
    instance = two_jobs(arrival_s=[0, 0, 50], work_s=[100, 50, 30], job2class=[0, 1, 0], num_tasks=[1, 1, 1])
    schedule = schedule_of([(0, 0, 240), (0, 0, 120)], [(0, 0, 0), (0, 1, 1), (60, 2, 0)])
    # Job 2 finds the image of its workload: sent at 60, it contends from 61 and progresses from 66 without a pause
    # for building; beside job 0 of the same workload nobody slows down.
    assert played(instance, schedule).jobs[2].finish == 96


def test_a_job_of_two_tasks_goes_at_the_rate_of_the_slower(two_jobs, schedule_of):
    instance = two_jobs(num_tasks=[2, 1])
    # Task 0 alone on machine 0, task 1 on machine 1, where job 1 joins it at 60 and halves its rate.
    schedule = schedule_of([(0, 0, 180), (0, 0, 180)], [(0, 0, 0), (0, 1, 1), (60, 2, 1)])
    assert played(instance, schedule).jobs[0].finish == 152


def test_a_job_that_stood_still_goes_on_while_it_is_being_stopped(two_jobs, schedule_of):
    instance = two_jobs(kill_s=[10, 1])
    instance = instance.replace(catalogue=instance.catalogue.replace(throughput=[[1000, 0], [800, 1000]]))
    # Job 0 has done 42 when job 1 contends from 62, and stands still. It is sent away at 120; job 1 ends at 125, and it
    # works from then until 130: 47. Saved at 132, it goes on at 142 and ends at 195.
    schedule = schedule_of([(0, 0, 180), (0, 120, 240)], [(0, 0, 0), (60, 1, 0), (120, 0, 1)])
    simulator = played(instance, schedule)
    assert simulator.jobs["finish"].tolist() == [195, 125]
    assert simulator.jobs[0].executed == 42 + 5 + 53


@pytest.mark.parametrize("upload_s", [0, 2])
def test_a_job_whose_stopping_and_work_end_with_a_plan_leaves_its_machine_once(two_jobs, schedule_of, upload_s):
    instance = two_jobs(kill_s=[60, 1], upload_s=[upload_s, 2])
    # Sent away at 60, job 0 works on until 120, when its work is done. It never comes to machine 1.
    schedule = schedule_of([(0, 0, 60), (0, 60, 120), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    simulator = played(instance, schedule)
    assert simulator.jobs["finish"].tolist() == [120, 122]
    assert paid_s(simulator).tolist() == [121 - 3, 121 - 63, 181 - 63]
    assert not simulator.state.machines.contending.any()
    assert not simulator.state.machines.used.any()
