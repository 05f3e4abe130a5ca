"""Requests to a server on a port, as an agent and as respondents make them."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.pages.respondent_client import session_in

Reply = tuple[int, Any]


@dataclass
class Caller:
    """Sends requests to one server; `token` goes with those to the API."""

    port: int
    token: str = ""

    def api(self, method: str, path: str, body: object = None) -> Reply:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        }
        sent = None if body is None else json.dumps(body)
        status, text = self._exchange(method, f"/api{path}", sent, headers)
        return status, json.loads(text)

    def post(self, path: str, **fields: str) -> int:
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"askback_r={fields['session']}",
        }
        return self._exchange("POST", path, urlencode(fields), headers)[0]

    def begin(self, link: str) -> str:
        """The session key that the page of a newcomer holds. A GET would be led to PUBLIC_URL."""
        return session_in(self._exchange("POST", f"{link}/another", None, {})[1].decode())

    def _exchange(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
