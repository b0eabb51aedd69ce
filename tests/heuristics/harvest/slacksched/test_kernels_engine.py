import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.harvest.slacksched import kernels_engine
from schedgap.heuristics.harvest.slacksched.state import PredictionOptions, new_engine
from schedgap.instances.arrays import records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.simulator.state import Change, Vm
from schedgap.instances.jit import lean_kernel

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
GREW, SHRANK = 0, 1


class Prediction:
    """What an engine predicts, for arrays. x : whether the VM grew or shrank last, e : ms since then, d : length of the task, a :
    how long the VM still has no room for it.
    """

    def __init__(self, engine):
        self.engine = engine
        fitted = engine.fitted[0]
        self.shrink_probability = (float(fitted.p_if_grew), float(fitted.p_if_shrank))

    def survival(self, ms):
        return self._curve(ms)[0]

    def integral(self, ms):
        return self._curve(ms)[1]

    def completion_probability(self, x, e, d):
        shape, (x, e, d) = flat(x, e, d)
        out = np.empty(e.shape)
        completion_probabilities(self.engine, x.astype(np.int64), e, d, out)
        return out.reshape(shape)

    def expected_time(self, x, a, e, d):
        shape, (x, a, e, d) = flat(x, a, e, d)
        out = np.empty(e.shape)
        expected_times(self.engine, x.astype(np.int64), a, e, d, out)
        return out.reshape(shape)

    def _curve(self, ms):
        shape, (ms,) = flat(ms)
        survival, integral = np.empty(ms.shape), np.empty(ms.shape)
        curve_values(self.engine, ms, survival, integral)
        return survival.reshape(shape), integral.reshape(shape)


def flat(*values):
    arrays = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in values))
    return arrays[0].shape, [np.ascontiguousarray(array).reshape(-1) for array in arrays]


@lean_kernel
def completion_probabilities(g, x, e, d, out):
    for i in range(out.shape[0]):
        out[i] = kernels_engine.completes_by(g, x[i], e[i], d[i])


@lean_kernel
def expected_times(g, x, a, e, d, out):
    for i in range(out.shape[0]):
        again = kernels_engine.restart_loss(g, d[i])
        out[i] = a[i] + d[i] + kernels_engine.loss_from(g, x[i], e[i] + a[i], d[i], again)


@lean_kernel
def curve_values(g, ms, survival, integral):
    for i in range(ms.shape[0]):
        survival[i], integral[i] = kernels_engine.look(g, ms[i])


def predict(now_ms, end, vm, gap, before, after, changed_ms, cores, *, span="change", **options):
    """Learn from changes that were seen up to a moment."""
    engine = new_engine(len(end), len(cores), PredictionOptions(**options), span=span)
    log = records(Change, len(end), ms=end, vm=vm, gap=gap, before=before, after=after)
    vms = records(Vm, len(cores), changed=changed_ms, cores=cores)
    kernels_engine.observe(engine, now_ms, len(end), log, vms)
    return Prediction(engine)


def of_gaps(gaps, *, now_ms=30 * HOUR, before=None, after=None, ages=(), **options):
    """Predict from gaps that all end one after another, a second apart, the last of them now."""
    count = len(gaps)
    zeros = np.zeros(count, np.int64)
    ends = now_ms - SECOND * np.arange(count)[::-1]
    return predict(
        now_ms,
        ends,
        zeros,
        np.array(gaps, np.int64),
        zeros if before is None else np.array(before),
        zeros if after is None else np.array(after),
        now_ms - np.array([0, *ages], np.int64),
        np.array([0] + [4] * len(ages)),
        **options,
    )


@pytest.fixture(scope="module")
def drawn():
    """What 3,000 gaps of a heavy-tailed distribution predict, with a tail from .02 on."""
    rng = np.random.default_rng(1)
    gaps = np.ceil(rng.pareto(1.3, 3000) * 10 * MINUTE).astype(np.int64)
    before, after = rng.integers(2, size=(2, 3000))
    return of_gaps(gaps, before=before, after=after, window_h=24)


def test_survival_of_twenty_gaps_by_hand():
    # Gaps of 10, 20, ..., 200 s; the ten longest are the tail, from 100 s on. Cells of 5 s.
    of = of_gaps([10 * SECOND * k for k in range(1, 21)])
    seconds = np.array([0, 5, 10, 12.5, 50, 95, 97.5, 100])
    # At 95 s nine have ended, at 100 s ten; between 5 and 10 s the curve falls from 1 to .95.
    assert of.survival(seconds * SECOND) == pytest.approx([1, 1, 0.95, 0.95, 0.75, 0.55, 0.525, 0.5], abs=1e-15)
    assert of.integral([0, 5000, 10_000, 15_000]) == pytest.approx([0, 5000, 5000 + 4875, 9875 + 4750], abs=1e-9)


def test_tail_is_hills_estimate():
    of = of_gaps([10 * SECOND * k for k in range(1, 21)])
    alpha = 10 / sum(np.log(k / 10) for k in range(11, 21))
    assert of.survival(200 * SECOND) == pytest.approx(0.5 * 2**-alpha, rel=1e-12)
    # The integral from 100 to 200 s of 0.5 (t / 100) ** -alpha.
    beyond = 0.5 * 100 * SECOND / (alpha - 1) * (1 - 2 ** (1 - alpha))
    assert of.integral(200 * SECOND) - of.integral(100 * SECOND) == pytest.approx(beyond, rel=1e-12)


def test_shrink_probabilities_count_each_pair_once_more():
    of = of_gaps([60 * SECOND] * 5, before=[GREW, GREW, GREW, SHRANK, SHRANK], after=[SHRANK, SHRANK, GREW, GREW, GREW])
    assert of.shrink_probability == ((2 + 1) / (3 + 2), (0 + 1) / (2 + 2))


def test_plain_has_no_tail_and_no_added_pairs():
    gaps, before, after = (
        [10 * SECOND * k for k in range(1, 21)],
        [GREW] * 3 + [SHRANK] * 17,
        [SHRANK] * 2 + [GREW] * 18,
    )
    of = of_gaps(gaps, before=before, after=after, survival="plain")
    assert of.shrink_probability == pytest.approx((2 / 3, 0), abs=1e-8)
    # Half of one gap is left after the last, and next to nothing beyond.
    assert of.survival([100_000, 190_000, 200_000, 400_000]) == pytest.approx([0.5, 0.05, 0.025, 0], abs=1e-4)


def test_nothing_seen_is_no_change_ever():
    of = of_gaps([])
    assert of.shrink_probability == (0.5, 0.5)
    assert of.completion_probability(GREW, 0, 10 * HOUR) == 1
    assert of.expected_time(SHRANK, 5 * MINUTE, HOUR, 20 * MINUTE) == 25 * MINUTE


def test_only_the_window_counts():
    # Of two changes 25 h apart only the later is in the day.
    log = [
        np.array(values) for values in ([HOUR, 26 * HOUR], [0, 0], [MINUTE, 2 * MINUTE], [GREW, GREW], [SHRANK, GREW])
    ]
    none = np.zeros(1, np.int64)
    assert predict(26 * HOUR, *log, none, none).shrink_probability == (1 / 3, 0.5)
    assert predict(26 * HOUR, *log, none, none, window_h=26).shrink_probability == (0.5, 0.5)


def test_kaplan_meier_by_hand():
    # Twelve gaps of 10, ..., 120 s, and a VM that has not changed for 15 s: at 10 s one of 13 ends, at 20 s one of 11.
    of = of_gaps([10 * SECOND * k for k in range(1, 13)], ages=[15 * SECOND], survival="kaplan-meier")
    assert of.survival([10_000, 20_000]) == pytest.approx([12 / 13, 12 / 13 * 10 / 11], abs=1e-15)
    ecdf = of_gaps([10 * SECOND * k for k in range(1, 13)], ages=[15 * SECOND])
    assert ecdf.survival([10_000, 20_000]) == pytest.approx([11 / 12, 10 / 12], abs=1e-15)


def test_kaplan_meier_joins_late():
    # The window is 36 s long; of twelve gaps that end now, those of 40, 50, ..., 120 s are seen from 4, 14, ..., 84 s on. At
    # 10 s there are the first three and that of 40 s, at 20 s the second, the third, and those of 40 and 50 s.
    gaps = np.array([10 * SECOND * k for k in range(1, 13)])
    zeros = np.zeros(12, np.int64)
    nothing = np.zeros(1, np.int64)
    log = (np.full(12, 30 * HOUR), zeros, gaps, zeros, zeros)
    of = predict(30 * HOUR, *log, nothing, nothing, window_h=0.01, survival="kaplan-meier")
    assert of.survival([10_000, 20_000]) == pytest.approx([3 / 4, 3 / 4 * 3 / 4], abs=1e-15)


def test_time_to_the_next_shrink_spans_growths():
    # One VM: it shrinks at 60 s, grows at 70 s, grows at 90 s, shrinks at 100 s; eleven more shrink a minute after a change.
    # So 40, 30 and 10 s are seen from the three changes to the shrink at 100 s, and 60 s twelve times.
    end = np.array([60, 70, 90, 100, *range(200, 211)]) * SECOND
    vm = np.array([0, 0, 0, 0, *range(1, 12)])
    gap = np.array([60, 10, 20, 10, *[60] * 11]) * SECOND
    before = np.array([GREW, SHRANK, GREW, GREW, *[GREW] * 11])
    after = np.array([SHRANK, GREW, GREW, SHRANK, *[SHRANK] * 11])
    of = predict(
        300 * SECOND, end, vm, gap, before, after, np.zeros(12, np.int64), np.zeros(12, np.int64), span="shrink"
    )
    assert of.shrink_probability == (1, 1)
    assert of.survival([5_000, 10_000, 30_000, 40_000]) == pytest.approx([1, 14 / 15, 13 / 15, 12 / 15], abs=1e-15)


def test_completion_probability_is_equation_1(drawn):
    e, d = 20 * MINUTE, 45 * MINUTE
    stays = drawn.survival(e + d) / drawn.survival(e)
    for x in (GREW, SHRANK):
        wanted = 1 - drawn.shrink_probability[x] * (1 - stays)
        assert drawn.completion_probability(x, e, d) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(
    ("x", "a", "e", "d"), [(0, 0, 0, 30), (1, 0, 12, 75), (0, 7, 3, 20), (1, 30, 90, 60), (0, 0, 5, 1)]
)
def test_expected_time_is_the_recursion(drawn, x, a, e, d):
    a, e, d = a * MINUTE, e * MINUTE, d * MINUTE

    def once(x, age, after):
        # E[time of this attempt and of what comes after a shrink], w by the trapezoidal rule on points where S bends.
        p = drawn.completion_probability(x, age, d)
        points = np.unique(np.concatenate((bends[(bends > age) & (bends < age + d)], [age, age + d])))
        survival = drawn.survival(points)
        inside = np.sum(np.diff(points) * (survival[1:] + survival[:-1])) / 2 - d * survival[-1]
        w = inside / (survival[0] - survival[-1])
        return p * d + (1 - p) * (w + after)

    fitted = drawn.engine.fitted[0]
    bends = fitted.step * np.arange(fitted.cells + 1)
    # The tail is no polygon: many points.
    bends = np.concatenate((bends, np.linspace(fitted.tail_ms, 3 * fitted.tail_ms, 20_000)))
    after = 0.0
    for _ in range(2000):
        after = once(GREW, 0, after)
    assert drawn.expected_time(x, a, e, d) == pytest.approx(a + once(x, e + a, after), rel=1e-6)


@pytest.mark.parametrize(("x", "a", "e", "d"), [(0, 0, 0, 30), (1, 0, 12, 75), (1, 30, 90, 60)])
def test_expected_time_is_the_mean_of_paths(drawn, x, a, e, d):
    a, e, d = a * MINUTE, e * MINUTE, d * MINUTE
    rng = np.random.default_rng(3)
    points = np.concatenate((np.arange(0, 4 * HOUR, 2500), np.geomspace(4 * HOUR, 1e12, 20_000)))
    survival = drawn.survival(points)
    paths = 100_000
    total = np.full(paths, float(a))
    going, direction, age = np.arange(paths), np.full(paths, x), np.full(paths, float(e + a))
    while going.size:
        # X given X > age, by inversion of S.
        u = rng.random(going.size) * drawn.survival(age)
        left = np.interp(u, survival[::-1], points[::-1]) - age
        shrinks = rng.random(going.size) < np.array(drawn.shrink_probability)[direction]
        fails = shrinks & (left < d)
        total[going] += np.where(fails, left, d)
        going = going[fails]
        direction, age = np.zeros(going.size, np.int64), np.zeros(going.size)
    error = total.std() / np.sqrt(paths)
    assert abs(drawn.expected_time(x, a, e, d) - total.mean()) < 4 * error + 0.001 * total.mean()


def test_arrays_are_what_single_calls_are(drawn):
    rng = np.random.default_rng(5)
    x, (a, e, d) = rng.integers(2, size=(7, 1)), rng.integers(1, 5 * HOUR, size=(3, 7, 4))
    probability, time = drawn.completion_probability(x, e, d), drawn.expected_time(x, a, e, d)
    for i, j in np.ndindex(7, 4):
        assert probability[i, j] == drawn.completion_probability(x[i, 0], e[i, j], d[i, j])
        assert time[i, j] == drawn.expected_time(x[i, 0], a[i, j], e[i, j], d[i, j])


@settings(max_examples=60, deadline=None)
@given(
    gaps=st.lists(st.integers(1, 100 * HOUR), max_size=60),
    ages=st.lists(st.integers(0, 100 * HOUR), max_size=5),
    survival=st.sampled_from(["ecdf", "kaplan-meier"]),
    span=st.sampled_from(["change", "shrink"]),
    data=st.data(),
)
def test_curves_are_a_survival_and_its_integral(gaps, ages, survival, span, data):
    after = data.draw(st.lists(st.integers(0, 1), min_size=len(gaps), max_size=len(gaps)))
    of = of_gaps(gaps, ages=ages, after=after, survival=survival, span=span, now_ms=200 * HOUR)
    ms = np.concatenate((np.linspace(0, 2e8, 500), np.geomspace(1, 1e10, 500)))
    ms.sort()
    curve, integral = of.survival(ms), of.integral(ms)
    assert curve[0] == 1
    assert (curve > 0).all()
    assert (np.diff(curve) <= 1e-12).all()
    # The mean of S over any interval lies between its ends.
    area, width = np.diff(integral), np.diff(ms)
    slack = 1e-9 * integral[1:] + 1e-9
    assert (area <= width * curve[:-1] + slack).all()
    assert (area >= width * curve[1:] - slack).all()
    times = of.expected_time(GREW, 0, ms, HOUR)
    assert (times >= HOUR).all()
    assert np.isfinite(times).all()


def test_bad_parameters_say_what_to_give():
    with pytest.raises(MethodError, match="window_h is 0; give hours, more than 0"):
        of_gaps([MINUTE], window_h=0)
