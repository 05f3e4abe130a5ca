"""The protected resources that a token can be for (RFC 8707): the REST API and the MCP endpoint."""

from urllib.parse import urlsplit

from flask import request

from webapp.config import Settings, settings
from webapp.web.hosts import origin_under


def served_resources() -> dict[str, str]:
    """The audiences of this application and their `resource_name` (RFC 9728)."""
    return {settings().api_url: "Askback API", settings().mcp_url: "Askback for MCP"}


def resource_metadata_url(settings: Settings, resource: str) -> str:
    """Where the RFC 9728 document of this resource is: the well-known part before its path.

    Its resource has to be the address of the request (section 3.3), so it has the host name and
    the trailing slash of that.
    """
    path = urlsplit(resource).path
    slash = "/" if request.path == f"{path}/" else ""
    return (
        f"{origin_under(request.host, settings)}/.well-known/oauth-protected-resource{path}{slash}"
    )


def normal_resource(resource: str) -> str | None:
    """Lower-case scheme and host, no trailing slash; None with a fragment or no scheme."""
    try:
        parts = urlsplit(resource)
    except ValueError:
        return None
    if not parts.scheme or not parts.netloc or "#" in resource:
        return None
    return (
        parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower())
        .geturl()
        .rstrip("/")
    )
