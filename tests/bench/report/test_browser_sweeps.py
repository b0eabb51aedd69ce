"""The figures of sweeps in a browser: lines, models and the paper's marks, by mouse and keyboard."""

import pytest

from schedgap.bench.report.page import write_page

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


@pytest.fixture
def sweeps(page, measured, tmp_path):
    """The page of a suite with sweeps."""
    write_page(measured, tmp_path / "sweeps.html")
    page.get((tmp_path / "sweeps.html").as_uri())
    yield page
    assert page.get_log("browser") == []


def lit(browser, number=0):
    """Return what stands out in a sweep's figure."""
    chart = browser.find_elements(By.CSS_SELECTOR, "#sweep-charts svg.chart")[number]
    return {node.get_attribute("data-m") for node in chart.find_elements(By.CSS_SELECTOR, ".lit")}


def test_sweeps_have_lines_models_and_the_papers_marks(sweeps):
    """Of `a` two marks, a dashed line of a model and the paper's hollow mark; `b` never varies."""
    charts = sweeps.find_elements(By.CSS_SELECTOR, "#sweep-charts figure")
    assert [chart.find_element(By.TAG_NAME, "h3").text for chart in charts] == ["Waits & <b>machines</b>", "Price"]
    count = """return ["path.line", "path.model", "path.mean", "path.hollow", "line.span"].map((kind) =>
        arguments[0].querySelectorAll(`[data-m="${arguments[1]}"] ${kind}`).length)"""
    assert sweeps.execute_script(count, charts[0], "s0") == [2, 1, 2, 1, 2]
    assert sweeps.execute_script(count, charts[0], "s1") == [1, 0, 2, 0, 0]
    drawn = charts[0].find_element(By.CSS_SELECTOR, "svg.chart")
    assert "mean wait (s) by s. a: 11 at 1, 4 at 2; b: 0 at 1, 0 at 2" in drawn.get_attribute("aria-label")
    others = sweeps.find_elements(By.CSS_SELECTOR, "#charts h3")
    assert [title.text for title in others] == [
        "Profile of times",
        "Time against distance",
        "Distance to the best known solution",
    ]


def test_a_sweeps_legend_hides_lines_models_and_the_paper(sweeps):
    figure = sweeps.find_element(By.CSS_SELECTOR, "#sweep-charts figure")
    buttons = {button.text: button for button in figure.find_elements(By.CSS_SELECTOR, ".keys button")}
    assert list(buttons) == ["a", "b", "model", "the paper"]

    def drawn(selector):
        return len(figure.find_elements(By.CSS_SELECTOR, f"svg.chart {selector}"))

    buttons["model"].send_keys(Keys.SPACE)
    assert (drawn("path.model"), drawn("path.hollow"), drawn("path.mean")) == (0, 1, 4)
    buttons["the paper"].send_keys(Keys.ENTER)
    assert (drawn("path.hollow"), drawn("path.mean")) == (0, 4)
    buttons["a"].send_keys(Keys.SPACE)
    assert buttons["a"].get_attribute("aria-pressed") == "false"
    assert drawn("path.mean") == 2
    buttons["b"].send_keys(Keys.SPACE)
    assert figure.find_element(By.CSS_SELECTOR, "svg.chart").text == "Nothing to show for this choice."


def test_arrow_keys_go_along_a_sweeps_lines(sweeps, settle):
    chart = sweeps.find_element(By.CSS_SELECTOR, "#sweep-charts svg.chart")
    tip = sweeps.find_element(By.ID, "tip")
    sweeps.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    settle()
    chart.send_keys(Keys.ARROW_RIGHT)
    assert tip.text == "a\ns 1\nmean wait (s)\n11, from 10 to 12\nmodel 12 (ours −8.3%)"
    assert lit(sweeps) == lit(sweeps, 1) == {"s0"}
    chart.send_keys(Keys.ARROW_DOWN)
    assert tip.text == "b\ns 1\nmean wait (s)\n0"
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert tip.text == (
        "a\ns 2\nmean wait (s)\n4, from 3 to 5\nmodel 4.4 (ours −9.1%)\nthe paper 5 (ours −20.0%), A, section 3"
    )
    chart.send_keys(Keys.ARROW_RIGHT)
    assert tip.text.startswith("b\ns 1")
    chart.send_keys(Keys.TAB)
    assert not tip.is_displayed()


def test_a_sweeps_point_tells_about_itself(sweeps, settle):
    mark = sweeps.find_element(By.CSS_SELECTOR, "#sweep-charts [data-m=s1] path.mean")
    sweeps.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    settle()
    ActionChains(sweeps).move_to_element(mark).perform()
    assert sweeps.find_element(By.ID, "tip").text == "b\ns 1\nmean wait (s)\n0"
    assert lit(sweeps) == {"s1"}


def test_sweeps_fit_a_phone(sweeps, show, settle):
    show(375, 700, "dark")
    sweeps.refresh()
    settle()
    assert sweeps.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [375, 375]
    widths = sweeps.execute_script(
        "return [...document.querySelectorAll('#sweep-charts svg.chart')].map((chart) => chart.getBBox().width <= 375)"
    )
    assert widths == [True, True]
