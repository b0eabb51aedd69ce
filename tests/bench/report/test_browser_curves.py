"""The curves of an instance's solutions in a browser: over each other, by mouse and keyboard, with the page's legend."""

import re

import pytest

from schedgap.bench.report.page import write_page

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

TITLES = ["Cost & <b>time</b>", "Machines"]


@pytest.fixture
def curves(page, curved, tmp_path):
    """The page of solutions with curves; the second instance, `i`, is open."""
    write_page(curved, tmp_path / "curves.html")
    page.get((tmp_path / "curves.html").as_uri())
    choose(page, "i")
    yield page
    assert page.get_log("browser") == []


def choose(browser, instance):
    browser.find_element(By.XPATH, f"//table[@id='instance-table']//button[.='{instance}']").send_keys(Keys.ENTER)


def charts(browser):
    return browser.find_elements(By.CSS_SELECTOR, ".curves figure")


def shape(chart, method):
    """Return the letters of the path of a method's curve."""
    path = chart.find_element(By.CSS_SELECTOR, f"[data-m='{method}'] .line").get_attribute("d")
    return re.sub(r"[^A-Z]", "", path)


def test_a_chart_for_each_title_with_the_curves_of_all_methods(curves):
    """Lines and steps; without a solution there is nothing, and the charts of an instance go with it."""
    cost, machines = charts(curves)
    assert [chart.find_element(By.TAG_NAME, "h5").text for chart in (cost, machines)] == TITLES
    assert [shape(cost, method) for method in (0, 1)] == ["MLL", "MLL"]
    assert [shape(machines, method) for method in (0, 1)] == ["MHVHV", "MHVHV"]
    label = cost.find_element(By.CSS_SELECTOR, "svg.chart").get_attribute("aria-label")
    assert label == "Cost & <b>time</b>. a: 20 at the end; b: 10 at the end"
    texts = [text.text for text in cost.find_elements(By.CSS_SELECTOR, "svg.chart text")]
    assert {"hours", "dollars", "0", "20"} <= set(texts)
    choose(curves, "h")
    assert charts(curves) == []
    choose(curves, "k")
    assert len(charts(curves)) == 2


def test_the_pointer_tells_what_all_have_at_its_place(curves, settle):
    """Near 1.5 hours: on the line of `a`, halfway from $5 to $20, and the steps keep one machine until 2 hours."""
    tip = curves.find_element(By.ID, "tip")
    for chart, expected in zip(charts(curves), ((12.5, 6.25), (1, 1)), strict=True):
        picture = chart.find_element(By.CSS_SELECTOR, "svg.chart")
        curves.execute_script("arguments[0].scrollIntoView({block: 'center'})", picture)
        settle()
        # The axis from 0 to 2 hours begins at 52 pixels and ends 14 before the right.
        middle = 52 + 0.75 * (picture.size["width"] - 66) - picture.size["width"] / 2
        ActionChains(curves).move_to_element_with_offset(picture, round(middle), 0).perform()
        hours, title, *lines = tip.text.split("\n")
        assert float(hours.removeprefix("hours ")) == pytest.approx(1.5, abs=0.01)
        assert title == ("dollars" if expected != (1, 1) else "machines")
        assert [line.split()[1] for line in lines] == ["a", "b"]
        assert [float(line.split()[0]) for line in lines] == pytest.approx(expected, abs=0.15)


def test_arrow_keys_go_along_the_curves(curves, settle):
    chart = charts(curves)[0].find_element(By.CSS_SELECTOR, "svg.chart")
    curves.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    settle()
    tip = curves.find_element(By.ID, "tip")
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert tip.text == "a\nhours 1\ndollars\n5"
    chart.send_keys(Keys.ARROW_DOWN)
    assert tip.text == "b\nhours 1\ndollars\n2.5"
    lit = {node.get_attribute("data-m") for node in chart.find_elements(By.CSS_SELECTOR, ".lit")}
    assert lit == {"1"}
    assert curves.find_element(By.ID, "said").get_attribute("textContent") == tip.text
    chart.send_keys(Keys.TAB)
    assert not tip.is_displayed()


def test_its_legend_is_the_pages_legend(curves):
    """What one hides is hidden everywhere, also when another instance is opened."""
    here = {button.text: button for button in curves.find_elements(By.CSS_SELECTOR, ".curves .keys button")}
    there = {button.text: button for button in curves.find_elements(By.CSS_SELECTOR, "#legend li button")}
    assert list(here) == list(there) == ["a", "b"]

    def drawn(box):
        return {node.get_attribute("data-m") for node in curves.find_elements(By.CSS_SELECTOR, f"{box} svg [data-m]")}

    here["a"].send_keys(Keys.SPACE)
    assert there["a"].get_attribute("aria-pressed") == "false"
    assert drawn(".curves") == drawn("#charts") == {"1"}
    there["b"].send_keys(Keys.SPACE)
    assert here["b"].get_attribute("aria-pressed") == "false"
    assert charts(curves)[0].find_element(By.CSS_SELECTOR, "svg.chart").text == "Nothing to show for this choice."
    choose(curves, "k")
    pressed = [b.get_attribute("aria-pressed") for b in curves.find_elements(By.CSS_SELECTOR, ".curves .keys button")]
    assert pressed == ["false", "false"]


def test_they_fit_a_phone(curves, show, settle):
    show(375, 700, "dark")
    settle()
    assert curves.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [375, 375]
    widths = curves.execute_script(
        "return [...document.querySelectorAll('.curves svg.chart')].map((chart) => chart.getBBox().width <= 375)"
    )
    assert widths == [True, True]
