"""What every method of waiting promises."""

from promises import Promises

from schedgap.instances.waiting import bursty, mms

MAKERS = {
    "one-job": lambda: mms(1, seed=1, step_s=60.0),
    "mms": lambda: mms(6, seed=2, arrival_rate=0.01, step_s=60.0),
    "mms-fine": lambda: mms(5, seed=9, arrival_rate=0.01, wait_price=0.05),
    "mms-limited": lambda: mms(6, seed=4, arrival_rate=0.01, step_s=60.0, wait_price=0.05, max_wait_h=0.25),
    "mms-no-wait": lambda: mms(7, seed=5, arrival_rate=0.01, max_wait_h=0.0),
    "bursty": lambda: bursty(5, seed=6, machine_cores=16, step_s=300.0, wait_price=0.1),
    "bursty-limited": lambda: bursty(5, seed=7, machine_cores=8, step_s=300.0, max_wait_h=1.0),
}


class TestWaiting(Promises):
    family = "waiting"
    makers = MAKERS
