"""The page in a browser: it runs without a complaint, answers mouse and keyboard, and asks nobody for anything."""

import json
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

from schedgap.bench.report.page import write_page

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select


def picture(browser):
    return imread(BytesIO(browser.get_screenshot_as_png()))[..., :3]


def methods(browser, table="headline"):
    rows = browser.find_elements(By.CSS_SELECTOR, f"#{table} tbody tr")
    return [row.get_attribute("data-method") for row in rows if row.is_displayed()]


def title_button(browser, title, table="headline"):
    return browser.find_element(By.XPATH, f"//table[@id='{table}']//button[normalize-space()='{title}']")


def test_no_complaint_and_no_request(page, address):
    """Every part of the page is there, and the hostile names did not run."""
    assert page.get_log("browser") == []
    assert page.title == "A little suite · schedgap"
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert asked - {"data:,"} == {address}
    charts = page.find_elements(By.CSS_SELECTOR, "#charts figure")
    assert [chart.find_element(By.TAG_NAME, "h3").text for chart in charts] == [
        "The paper and ours",
        "Gaps",
        "Profile of times",
        "Profile of gaps",
        "Gap over time",
        "Time against gap",
    ]
    assert all(chart.find_elements(By.CSS_SELECTOR, "svg [data-m]") for chart in charts)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_is_not_blank(page, theme, show):
    """Most is background, at least a hundredth is not, and there are many colours."""
    show(1280, 900, theme)
    red, green, blue = (255 * picture(page)).round().astype(int).reshape(-1, 3).T
    colours, counts = np.unique(red << 16 | green << 8 | blue, return_counts=True)
    assert len(colours) > 50
    assert 0.01 < 1 - counts.max() / counts.sum() < 0.5
    assert colours[counts.argmax()] == (0xFFFFFF if theme == "light" else 0x16181B)


def test_the_theme_button_goes_round(page):
    button = page.find_element(By.ID, "theme")
    looks = []
    for _ in range(3):
        looks.append((button.text, page.execute_script("return getComputedStyle(document.body).backgroundColor")))
        button.send_keys(Keys.ENTER)
    assert looks == [
        ("Theme: system", "rgb(255, 255, 255)"),
        ("Theme: light", "rgb(255, 255, 255)"),
        ("Theme: dark", "rgb(22, 24, 27)"),
    ]
    assert button.text == "Theme: system"


def test_a_click_sorts(page):
    button = title_button(page, "worst gap")
    head = button.find_element(By.XPATH, "..")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    # What has no gap comes last, in either direction.
    assert methods(page) == ["exact", "exact", "near", "near", "far", "far", *["broken[why=<i>]"] * 2]
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    assert methods(page)[:2] == ["far", "far"]
    assert methods(page)[-1] == "broken[why=<i>]"
    button.click()
    assert head.get_attribute("aria-sort") == "none"
    assert methods(page) == ["exact", "near", "far", "broken[why=<i>]"] * 2


def test_the_keyboard_sorts(page):
    """By the tab key from one title to the next; what happened is said."""
    title_button(page, "runs").send_keys(Keys.TAB)
    focused = page.switch_to.active_element
    assert focused.text == "cost / optimum"
    outline = page.execute_script("return getComputedStyle(arguments[0]).outlineStyle", focused)
    assert outline == "solid"
    focused.send_keys(Keys.SPACE)
    assert methods(page)[:4] == ["exact", "exact", "near", "near"]
    assert page.find_element(By.ID, "said").get_attribute("textContent") == "sorted by cost / optimum, ascending"


def test_filters(page):
    form = page.find_element(By.CSS_SELECTOR, "form[data-table=headline]")
    Select(form.find_element(By.CSS_SELECTOR, "[data-filter=group]")).select_by_visible_text("small")
    assert methods(page) == ["exact", "near", "far", "broken[why=<i>]"]
    text = form.find_element(By.CSS_SELECTOR, "[data-filter=text]")
    text.send_keys("FAR")
    assert methods(page) == ["far"]
    assert form.find_element(By.TAG_NAME, "output").text == "1 of 8 rows"
    form.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    assert len(methods(page)) == 8
    Select(form.find_element(By.CSS_SELECTOR, "[data-filter=status]")).select_by_visible_text("all proven optimal")
    assert methods(page) == ["exact", "exact"]
    Select(form.find_element(By.CSS_SELECTOR, "[data-filter=status]")).select_by_index(0)
    Select(form.find_element(By.CSS_SELECTOR, "[data-filter=method]")).select_by_visible_text("near")
    assert methods(page) == ["near", "near"]


def test_the_legend_hides_methods_and_the_choice_of_instances_redraws(page):
    def drawn():
        return {int(node.get_attribute("data-m")) for node in page.find_elements(By.CSS_SELECTOR, "#charts [data-m]")}

    # `broken` solved nothing and is off from the start.
    assert drawn() == {0, 1, 2}
    button = page.find_element(By.XPATH, "//div[@id='legend']//button[.='far']")
    button.send_keys(Keys.SPACE)
    assert button.get_attribute("aria-pressed") == "false"
    assert drawn() == {0, 1}
    chart = page.find_element(By.XPATH, "//figure[.//h3='The paper and ours']//*[name()='svg']")
    assert "near: ours 1.125, the paper's 1.50" in chart.get_attribute("aria-label")
    Select(page.find_element(By.CSS_SELECTOR, "#legend select")).select_by_index(2)
    assert chart.text == "Nothing to show for this choice."


def test_an_instance_opens_with_its_runs_and_its_picture(page):
    """Three machines of 4 gpu with two tasks of 2 gpu each."""
    opener = page.find_element(By.XPATH, "//table[@id='instance-table']//button[.='i0']")
    assert opener.get_attribute("aria-expanded") == "true"
    machine = page.find_element(By.CSS_SELECTOR, ".picture .machine:not(.title)")
    assert machine.get_attribute("aria-label") == "3 × it1; 2 tau1; gpu 4 of 4; cpu 16 of 16"
    pieces = machine.find_elements(By.CSS_SELECTOR, ".tube b")
    assert [piece.get_attribute("style").split(";")[0] for piece in pieces] == ["width: 50%"] * 4
    page.find_element(By.XPATH, "//table[@id='instance-table']//button[.='i1']").send_keys(Keys.ENTER)
    assert opener.get_attribute("aria-expanded") == "false"
    detail = page.find_element(By.CLASS_NAME, "detail").text
    assert "There is no picture of a solution of this instance." in detail
    assert "it said </script><script>" in detail


def test_a_point_tells_of_its_run_and_opens_its_instance(page, settle):
    """All runs of `far` lie on one point; the first of them is found."""
    chart = page.find_element(By.XPATH, "//figure[.//h3='Time against gap']//*[name()='svg']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    settle()
    dot = chart.find_element(By.CSS_SELECTOR, "[data-m='2'] .dot")
    tip = page.find_element(By.ID, "tip")
    ActionChains(page).move_to_element(dot).perform()
    assert tip.text == "far\ni0\ngap 50.00% in 1 ms"
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert not tip.is_displayed()
    page.find_element(By.XPATH, "//table[@id='instance-table']//button[.='i1']").send_keys(Keys.ENTER)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    settle()
    ActionChains(page).move_to_element(dot).click().perform()
    assert page.find_element(By.CSS_SELECTOR, ".detail h3").text == "i0"
    assert page.switch_to.active_element.get_attribute("class") == "detail"


def test_arrow_keys_go_from_point_to_point_and_enter_opens_the_instance(page, settle):
    """The points of `exact` come first, those of its second group at the end; up from the first is the last method."""
    chart = page.find_element(By.XPATH, "//figure[.//h3='Time against gap']//*[name()='svg']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    settle()
    chart.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    tip = page.find_element(By.ID, "tip")
    assert tip.text == "exact\ni1\ngap 0% in 500 ms"
    chart.send_keys(Keys.ARROW_UP)
    assert tip.text.startswith("far\n")
    chart.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    assert page.find_element(By.CSS_SELECTOR, ".detail h3").text == "i1"


def test_a_phone_scrolls_no_page_sideways(page, address, show, settle):
    show(375, 700, "light")
    page.get(address)
    settle()
    assert page.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [375, 375]
    # The table is wider and scrolls in its box.
    box = page.find_element(By.XPATH, "//table[@id='headline']/..")
    assert page.execute_script("return arguments[0].scrollWidth > arguments[0].clientWidth", box)
    assert page.execute_script("return getComputedStyle(arguments[0]).overflowX", box) == "auto"
    assert page.get_log("browser") == []


def test_a_page_of_failures_alone(page, results, make_record, tmp_path):
    broken = tuple(record for record in results.records if record.measurement.objective is None)
    write_page(replace(results, records=broken), tmp_path / "broken.html")
    page.get((tmp_path / "broken.html").as_uri())
    assert page.get_log("browser") == []
    assert "it said" in page.find_element(By.ID, "failures").text
