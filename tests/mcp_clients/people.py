"""The people around an agent, who have plain browsers: creators and respondents."""

import re
from html import unescape
from urllib.parse import urlsplit

import requests

from tests.oauth.live import Person


class Creator(Person):
    """Allows agents, and confirms their drafts."""

    def confirm(self, review_address: str) -> None:
        """Press the button that lets the agent publish the draft at `review_address`."""
        address = f"{self.origin}{urlsplit(review_address).path}/confirm"
        shown = fields_of(self.http.get(address), "revision", "shown_hash")
        answer = self._post(address, shown | {"then": "agent"})
        assert answer.status_code == 303, answer.text


def fields_of(page: requests.Response, *names: str) -> dict[str, str]:
    """The values of hidden fields."""
    found = re.findall(r'name="(\w+)" value="([^"]*)"', page.text)
    return {name: unescape(value) for name, value in found if name in names}


def respond(share_url: str, *answers: str, name: str = "") -> None:
    """Somebody answers every question of a form in turn, and sends."""
    with requests.Session() as http:
        page = http.get(share_url)
        for number, text in enumerate(answers, 1):
            sent = fields_of(page, "session", "answer_key") | {"answer": text}
            page = http.post(f"{share_url}/q/{number}", data=sent)
            assert page.ok, page.text
        page = http.post(f"{share_url}/check", data=fields_of(page, "session") | {"name": name})
        assert page.ok, page.text
        assert "Thank you" in page.text
