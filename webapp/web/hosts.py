"""Allowed host names, and the redirect to the public one."""

from urllib.parse import urlsplit

from flask import Flask, redirect, request
from werkzeug.exceptions import BadRequest
from werkzeug.wrappers import Response

from webapp.config import Settings
from webapp.config_readers import is_loopback
from webapp.web.request_kind import PAGES, RequestKind, request_kind
from webapp.web.url_converters import current_address


class UnknownHost(BadRequest):
    """The request names a host that is not one of ours."""

    description = "This server is not reached under the host name of the request."


def init_app(app: Flask, config: Settings) -> None:
    """Refuse requests for other hosts; on loopback, redirect page GETs to the public address.

    Without the redirect, a session that began at localhost would be missing at 127.0.0.1.
    """
    known = {config.public_host, *config.trusted_hosts}
    public_place = urlsplit(config.public_url).netloc
    on_loopback = config.on_loopback

    @app.before_request
    def check_host() -> Response | None:
        if request.host == public_place or _is_probe():
            return None
        name = _host_name(request.host)
        if name not in known and not (on_loopback and is_loopback(name)):
            raise UnknownHost()
        if on_loopback and _is_page():
            return redirect(config.public_url + current_address())
        return None


def _is_probe() -> bool:
    """Probes are exempt: a supervisor uses whatever address it knows."""
    return request.url_rule is not None and request_kind() is RequestKind.PROBE


def _host_name(host: str) -> str:
    """The name of a Host header, lower case, without port and brackets; empty when malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_page() -> bool:
    return request.method in ("GET", "HEAD") and request_kind() in PAGES
