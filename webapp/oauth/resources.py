"""The protected resources that a token can be for (RFC 8707): the REST API and the MCP endpoint."""

from urllib.parse import urlsplit

from flask import request

from webapp.config import Settings, settings
from webapp.config_readers import origin
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


def named_resources(name: str) -> set[str]:
    """Our resources at, below or above this address; none for a foreign one or one with a fragment.

    So the origin names both, and the address of one call names its resource.
    """
    try:
        parts = urlsplit(name)
        found = origin(f"{parts.scheme}://{parts.netloc}")
    except ValueError:
        return set()
    if "#" in name or found != origin_under(parts.netloc, settings()):
        return set()
    path = parts.path.rstrip("/") + "/"
    paths = {resource: urlsplit(resource).path + "/" for resource in served_resources()}
    return {
        resource for resource, own in paths.items() if own.startswith(path) or path.startswith(own)
    }
