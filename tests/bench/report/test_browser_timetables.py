"""Schedules by time in a browser: drawn, compared, zoomed and moved by buttons, keys and pointer."""

import pytest

from schedgap.bench.report.page import write_page

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


@pytest.fixture
def schedules(page, timed, tmp_path, settle):
    """The page of ten schedules; the best, of 2 s, is shown, and beside it the worst, of 20 s."""
    write_page(timed, tmp_path / "timed.html")
    page.get((tmp_path / "timed.html").as_uri())
    page.execute_script("document.querySelector('.timetables').scrollIntoView()")
    settle()
    yield page
    assert page.get_log("browser") == []


def pictures(browser):
    return browser.find_elements(By.CSS_SELECTOR, "svg.timetable")


def bars(chart):
    return chart.find_elements(By.CSS_SELECTOR, "rect.at")


def ticks(chart):
    texts = chart.find_elements(By.CSS_SELECTOR, "text:not(.row, .inside, .peak)")
    return [float(text.text) for text in texts if text.text[:1].isdigit()]


def test_rows_marks_and_what_is_said(schedules):
    best, worst = pictures(schedules)
    assert [text.text for text in best.find_elements(By.CSS_SELECTOR, "text.row")] == [
        "waiting",
        "machine <0>",
        "machine <1>",
    ]
    assert len(bars(best)) == len(bars(worst)) == 3
    label = best.get_attribute("aria-label")
    assert label.startswith("Schedule of m0: 3 rows from 0 to 2 seconds; ")
    assert '2 marks of "runs"' in label
    # One axis for both: a second takes as much room in either, the worst schedule all of it.
    widths = [[bar.rect["width"] for bar in bars(chart)] for chart in (best, worst)]
    assert widths[1][1] == pytest.approx(10 * widths[0][1], rel=0.03)
    legend = [item.text for item in schedules.find_elements(By.CSS_SELECTOR, ".timetables .parts li")]
    assert legend == ["job & 0", "job & 1", "waits"]


def test_another_schedule_can_stand_beside_it_or_none(schedules):
    choice = Select(schedules.find_element(By.CSS_SELECTOR, ".beside select"))
    assert choice.first_selected_option.get_attribute("textContent").startswith("m9")
    choice.select_by_visible_text("m4, 50")
    assert [chart.get_attribute("aria-label").split(":")[0] for chart in pictures(schedules)] == [
        "Schedule of m0",
        "Schedule of m4",
    ]
    choice.select_by_visible_text("no other")
    assert len(pictures(schedules)) == 1


def test_buttons_keys_and_a_drag_move_both(schedules, settle):
    best, worst = pictures(schedules)
    assert (ticks(best)[0], ticks(best)[-1]) == (0, 20)
    schedules.find_element(By.CSS_SELECTOR, "[aria-label='Zoom in']").click()
    assert ticks(best) == ticks(worst)
    assert ticks(best)[0] >= 4
    assert ticks(best)[-1] <= 16
    best.send_keys(Keys.ARROW_RIGHT)
    moved = ticks(worst)
    assert moved[-1] > 16
    ActionChains(schedules).drag_and_drop_by_offset(worst, 200, 0).perform()
    settle()
    assert ticks(best)[0] < moved[0]
    best.send_keys("0")
    assert (ticks(best)[0], ticks(best)[-1]) == (0, 20)
    assert schedules.find_element(By.ID, "said").get_attribute("textContent") == "0 to 20 seconds"


def test_the_pointer_tells_of_a_mark_and_its_job_stands_out_in_both(schedules):
    _, worst = pictures(schedules)
    ActionChains(schedules).move_to_element(bars(worst)[1]).perform()
    assert schedules.find_element(By.ID, "tip").text == "machine <0>\nruns: job & 0\n0 to 10 seconds"
    dim = [rect.get_attribute("data-job") for rect in schedules.find_elements(By.CSS_SELECTOR, "rect.dim")]
    assert dim == ["job & 1"] * 4


def test_losses_by_machine_type(schedules):
    """Of $5 beyond the bound of the best schedule, the two it1 lose $4.50 and it2 $0.50."""
    rows = schedules.find_elements(By.CSS_SELECTOR, ".split tbody tr")
    assert [[cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")] for row in rows] == [
        ["it1", "2", "8", "3.5", "4.5", "90.00%"],
        ["it2", "1", "2", "1.5", "0.5", "10.00%"],
    ]


def test_of_many_lines_all_are_grey_but_a_few_and_the_one_at_the_pointer(schedules, settle):
    """Ten methods: colours for four of them, for others when they are pointed at, by their names or in the figure."""
    chart = schedules.find_element(By.XPATH, "//figure[.//h3='Profile of times']")
    assert "10 lines" in chart.text
    script = "return getComputedStyle(arguments[0]).stroke"

    def colours():
        lines = chart.find_elements(By.CSS_SELECTOR, "[data-m] .line")
        return [schedules.execute_script(script, line) for line in lines]

    assert len(set(colours())) == 5
    name = schedules.find_element(By.XPATH, "//div[@id='legend']//button[@data-method='8']")
    ActionChains(schedules).move_to_element(name).perform()
    assert len(set(colours())) == 2
    assert chart.find_elements(By.CSS_SELECTOR, "[data-m].lit")[0].get_attribute("data-m") == "8"
