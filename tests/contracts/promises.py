"""What every registered method promises, on tiny instances of every kind; a new method is tested by being there."""

from __future__ import annotations

import json
import os
import pickle
from collections import defaultdict
from functools import cache

from schedgap.bench.certify.nodes import check_file
from schedgap.bench.certify.problem import read_certificate
from schedgap.bench.checks.contract import judge_trial
from schedgap.bench.checks.trials import RunKind, Seen, Trial
from schedgap.bench.isolation.answer import certificate_of
from schedgap.bench.isolation.child import measured
from schedgap.bench.isolation.judge import judge
from schedgap.bench.isolation.messages import Ending, Request
from schedgap.bench.plan import make_run
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.records.runs import Limits, Record
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status

TIME_LIMIT_S = 20.0
# By family and method: instance, certificate and the bound that was given.
CERTIFICATES = defaultdict(list)
# By what a test asks for: methods that it is about.
MEANT = {
    "method": lambda method: True,
    "telling": lambda method: "found" in method.wants,
    "bounding": lambda method: method.bounds,
    "exact": lambda method: method.exact,
}


def seen(method, instance, kind):
    """One run in this process, judged as any other."""
    limits = Limits.from_time_limit(0.0 if kind is RunKind.NO_TIME else TIME_LIMIT_S)
    run = make_run(instance, method, {}, limits, group=kind)
    request = Request(method.family, method.name, {}, run.seed, limits, run.digest, None, keep=True)
    family = find_family(method.family)
    with open(os.devnull, "wb") as nobody:
        answer = measured(request, lambda: instance, nobody.fileno())
    measurement, solution = judge(family, instance, Ending(answer=answer), limits)
    content = None if solution is None else pickle.dumps(solution)
    certificate = certificate_of(answer, instance.name, instance.digest)
    if certificate is not None:
        CERTIFICATES[method.family, method.name].append((instance, certificate, measurement.bound))
    return Seen(Record(run.key, run, measurement, "", ""), content)


class Promises:
    """A family's tests: its file derives them from here, and says how its instances are made."""

    family: str
    makers: dict

    @classmethod
    @cache
    def methods(cls):
        load_methods([cls.family])
        return {key[1]: each for key, each in sorted(REGISTRY.items()) if key[0] == cls.family and each.is_shipped}

    @classmethod
    @cache
    def instances(cls):
        made = [make() for make in cls.makers.values()]
        return {instance.digest: instance for instance in made}

    @classmethod
    @cache
    def trial_of(cls, name):
        """A method on all instances, then on all of them once more, then without any time."""
        method = cls.methods()[name]
        names = {digest: instance.name for digest, instance in cls.instances().items()}
        trial = Trial(method, {}, name, Limits.from_time_limit(TIME_LIMIT_S), names)
        for kind in (RunKind.ALONE, RunKind.AGAIN, RunKind.NO_TIME):
            trial.seen[kind] = {digest: seen(method, instance, kind) for digest, instance in cls.instances().items()}
        return trial

    def pytest_generate_tests(self, metafunc):
        for name in MEANT.keys() & metafunc.fixturenames:
            meant = [method for method in self.methods().values() if MEANT[name](method)]
            metafunc.parametrize(name, meant, ids=[method.name for method in meant])

    def test_tells_what_is_so(self, telling):
        """Each solution is feasible, no bound is above one, and the answer is no worse than the last of both."""
        family = find_family(self.family)
        for instance in self.instances().values():
            objectives, bounds = [], []

            def found(solution=None, bound=None, instance=instance, objectives=objectives, bounds=bounds):
                objectives.extend([] if solution is None else [family.verify(instance, solution)])
                bounds.extend([] if bound is None else [bound])

            outcome = telling.run(instance, time_limit_s=2.0, found=found)
            assert outcome.status is Status.UNSUPPORTED or objectives or bounds
            if objectives:
                assert max(bounds, default=0) <= min(objectives)
                assert family.verify(instance, outcome.solution) <= objectives[-1]
            assert max(bounds, default=0) <= (outcome.bound or 0)

    def test_keeps_what_every_method_promises(self, method):
        """The rules of `schedgap check`, beside all other methods of the family."""
        others = [self.trial_of(name) for name in self.methods() if name != method.name]
        checked = judge_trial(self.trial_of(method.name), others)
        assert len(checked.checks) == 11
        assert [check for check in checked.checks if check.result == "failed"] == []

    def test_certificates_hold(self, bounding, tmp_path):
        """Read from a file by the checker's own reader: they prove no more than the bound that the method gives."""
        self.trial_of(bounding.name)
        family = find_family(self.family)
        for instance, certificate, bound in CERTIFICATES[self.family, bounding.name]:
            family.write_instance(instance, tmp_path / "i.json")
            (tmp_path / "c.json").write_text(json.dumps(certificate))
            _, found = check_file(tmp_path / "i.json", read_certificate(tmp_path / "c.json"))
            assert found.reason is None
            assert found.bound <= bound

    def test_exact_methods_prove_tiny_instances(self, exact):
        ends = [run.record.status for run in self.trial_of(exact.name).supported().values()]
        assert ends == ["optimal"] * len(ends)
        assert ends

    def test_has_a_summary_and_checked_parameters(self, method):
        assert method.summary.endswith(".")
        assert method.checked(dict(method.parameters)) == dict(method.parameters)
        texts = {key: default for key, default in method.parameters.items() if isinstance(default, str)}
        assert set(method.choices) <= texts.keys()
        # A text that is none of several choices says nothing by default.
        assert {texts[key] for key in texts.keys() - method.choices} <= {""}
