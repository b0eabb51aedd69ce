"""The page for everybody: on a desk and on a phone, light and dark, nothing is cut or out of the window; axe is content."""

import pytest

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from schedgap.bench.report.page import write_page


@pytest.fixture(scope="session")
def pages(results, curved, measured, mapped, timed, tmp_path_factory):
    """A page of each kind: gaps, curves, measures, maps and schedules."""
    folder = tmp_path_factory.mktemp("pages")
    given = {"gaps": results, "curves": curved, "measures": measured, "maps": mapped, "schedules": timed}
    for name, own in given.items():
        write_page(own, folder / f"{name}.html")
    return folder


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("name", ["gaps", "curves", "measures", "maps", "schedules"])
def test_everybody_can_read_it(page, pages, show, settle, complaints, name, width, theme):
    show(width, 800, theme)
    page.get((pages / f"{name}.html").as_uri())
    settle()
    assert complaints() == []


def test_a_phone_shows_the_gap_beside_the_method(page, address, show, settle):
    show(375, 800, "light")
    page.get(address)
    settle()
    heads = page.find_elements(By.CSS_SELECTOR, "#headline thead th, #instance-table thead th")
    ends = {head.text: head.rect["x"] + head.rect["width"] for head in heads if head.is_displayed()}
    assert all(ends[title] <= 375 for title in ("mean gap", "worst gap"))


def test_a_note_shows_at_the_focus_and_is_a_description(page):
    button = page.find_element(By.XPATH, "//table[@id='headline']//button[normalize-space()='mean gap']")
    note = page.find_element(By.ID, button.get_attribute("aria-describedby")).get_attribute("textContent")
    assert note
    button.send_keys(Keys.SHIFT)
    tip = page.find_element(By.ID, "tip")
    assert tip.is_displayed()
    assert tip.text == note
    button.send_keys(Keys.TAB)
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert not tip.is_displayed()
