"""Plans of jobs placed in turn: no setting that is a step away does better, and later ends are found where they pay."""

import pytest

from schedgap.formulations.waiting.fluid_bound import priced
from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.priced_search import search as drafts
from schedgap.formulations.waiting.priced_search.search import schedule_of
from schedgap.instances.waiting import bursty, mms, verify


@pytest.fixture
def settings(monkeypatch):
    """The settings that were tried, with what each plan costs."""
    seen, placed = {}, drafts._placed

    def watched(ends, machines, setting, known):
        draft = placed(ends, machines, setting, known)
        seen[setting] = draft.least
        return draft

    monkeypatch.setattr(drafts, "_placed", watched)
    return seen


@pytest.mark.parametrize("few", [0, drafts.FEW])
def test_no_neighbour_is_better(settings, monkeypatch, few):
    """One that was not tried pays more for machines alone."""
    monkeypatch.setattr(drafts, "FEW", few)
    ends = priced(scale(bursty(600, seed=3, machine_cores=16, wait_price=0.05)), 10, 200)[0]
    best = drafts.best_draft(ends, 3)
    setting = min(settings, key=settings.get)
    horizon, price = ends.scaled.horizon, 3 * ends.scaled.instance.fixed_price
    assert best.least == settings[setting] <= settings[drafts.Setting(horizon)]
    choices = drafts.CHOICES | {"end": drafts._last_ends(ends)}
    near = {setting._replace(**{part: value}) for part, values in choices.items() for value in values}
    assert all(price * other.end + ends.scaled.always_rented >= best.least for other in near - set(settings))
    assert (len(settings) > 50) == (few > 0)


def test_who_may_wait_for_ever_is_served_after_the_horizon(settings):
    """Machines cost less than rent: where waits cost nothing, few of them that run on pay."""
    instance = mms(300, seed=2, arrival_rate=0.02, wait_price=0.0)
    ends = priced(scale(instance), 10, 200)[0]
    best = drafts.best_draft(ends, 1)
    assert min(settings, key=settings.get).end == ends.scaled.horizon * (1 + max(drafts.LATER))
    assert verify(instance, schedule_of(best)) < instance.rented_price * int(instance.runtime_us.sum())


def test_without_time_there_is_the_first(settings):
    ends = priced(scale(mms(50, seed=1, wait_price=0.05)), 5, 100)[0]
    assert drafts.best_draft(ends, 2, deadline=0.0).least == settings[drafts.Setting(ends.scaled.horizon)]
    assert len(settings) == 1


@pytest.mark.parametrize("seed", range(20))
def test_who_never_waits_may_end_last(seed):
    """To the microsecond."""
    ends = priced(scale(mms(50, seed=seed, wait_price=0.05)), 1, 10)[0]
    last = int((ends.scaled.submit + ends.scaled.runtime).max())
    assert min(ends.last, max(ends.scaled.horizon, last)) in drafts._last_ends(ends)
    assert len(set(drafts._last_ends(ends))) == len(drafts._last_ends(ends))
