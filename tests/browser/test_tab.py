"""The tab that shows page after page hides nothing and keeps nothing."""

import pytest

from tests.browser.conftest import ExampleSite
from tests.browsing import look, sideways, violations


def test_a_visit_finds_nothing_of_the_one_before(site: ExampleSite) -> None:
    with site.tab.visit(site.signed_in["cookies"], refused=0, width=390) as page:
        page.goto("/drafts")
        look(page, width=1280, scheme="dark")
        page.route("**/login", lambda route: route.abort())
        page.evaluate("() => { localStorage.kept = 1; sessionStorage.kept = 1 }")

    with site.tab.visit([], refused=0, width=390, height=664) as page:
        page.goto("/drafts")
        assert page.url.startswith(f"{site.address}/login")
        assert page.evaluate("localStorage.length + sessionStorage.length") == 0
        assert page.evaluate("[innerWidth, innerHeight]") == [390, 664]
        assert page.evaluate("matchMedia('(prefers-color-scheme: light)').matches")


def sign_in_page(site: ExampleSite, script: str) -> None:
    """One visit of the page with a script run in it."""
    with site.tab.visit([], refused=0) as page:
        page.goto("/login")
        page.evaluate(script)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ("console.error('a warning of ours')", "a warning of ours"),
        ("fetch('/nothing-is-here')", "404: .*/nothing-is-here"),
        # the page is left once it has been thrown
        (
            "new Promise(end => setTimeout(() => { setTimeout(end); throw new Error('broken') }))",
            "broken",
        ),
    ],
)
def test_a_page_that_is_not_quiet_fails_its_visit_alone(
    site: ExampleSite, script: str, complaint: str
) -> None:
    with pytest.raises(pytest.fail.Exception, match=complaint):
        sign_in_page(site, script)

    sign_in_page(site, "0")


def test_faults_are_found_on_a_later_page_as_on_the_first(site: ExampleSite) -> None:
    for _ in range(2):
        with site.tab.visit([], refused=0) as page:
            page.goto("/login")
            assert violations(page) + sideways(page) == []
            page.evaluate(
                "() => { document.querySelector('label').remove();"
                " document.querySelector('h1').style.cssText = 'color: #eee; width: 3000px' }"
            )
            look(page, width=390)
            found = " ".join(violations(page))
            assert "label" in found
            assert "color-contrast" in found
            assert sideways(page)
