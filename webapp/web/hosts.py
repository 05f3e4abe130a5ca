"""Allows only known host names, and redirects to the public one."""

from urllib.parse import quote, urlsplit

from flask import Flask, redirect, request
from werkzeug.exceptions import BadRequest
from werkzeug.wrappers import Response

from webapp.base.config import Settings, settings
from webapp.base.config_readers import is_loopback, origin
from webapp.web.request_kind import PAGES, RequestKind, request_kind
from webapp.web.url_converters import current_address

CONSENT = "consent.authorize"
ASKED_HOST = "asked_host"  # a parameter that our redirect adds to authorization requests


class UnknownHost(BadRequest):
    """The request names an unknown host."""

    description = "This server is not reached under the host name of the request."


def init_app(app: Flask, config: Settings) -> None:
    """Refuse requests for other hosts; on loopback, redirect page GETs to the public address.

    Without the redirect, 127.0.0.1 would not see a session that began at localhost.
    """
    known = {config.public_host, *config.trusted_hosts}
    public_place = urlsplit(config.public_url).netloc
    on_loopback = config.on_loopback

    @app.before_request
    def check_host() -> Response | None:
        # probes are exempt, because a supervisor may use any address of ours
        is_probe = request.url_rule is not None and request_kind() is RequestKind.PROBE
        if request.host == public_place or is_probe:
            return None
        name = _host_name(request.host)
        if name not in known and not (on_loopback and is_loopback(name)):
            raise UnknownHost()
        if on_loopback and request.method in ("GET", "HEAD") and request_kind() in PAGES:
            return redirect(config.public_url + current_address() + _asked_host())
        return None


def origin_under(host: str | None) -> str:
    """Return our origin for a client that names `host`; on loopback it keeps that name.

    Clients compare the origin in a document with the address that they were given, and take
    localhost and 127.0.0.1 for two servers. A public installation has one name.
    """
    config = settings()
    public = urlsplit(config.public_url)
    try:
        named = urlsplit(origin(f"{public.scheme}://{host}"))
    except ValueError:
        return config.public_url
    same = is_loopback(named.hostname or "") and named.port == public.port
    return named.geturl() if same and config.on_loopback else config.public_url


def _asked_host() -> str:
    """Return the parameter from which an authorization response takes its issuer, or ""."""
    asks = request.endpoint == CONSENT and request.query_string
    return f"&{ASKED_HOST}={quote(request.host)}" if asks else ""


def _host_name(host: str) -> str:
    """Return the lower-case name in a Host header, without port and brackets; "" if malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
