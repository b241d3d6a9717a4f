"""The way to a host: directly, or by a proxy that the usual environment variables name.

Flows in: a URL, and the environment. Flows out: a `Route`.
"""

from __future__ import annotations

import base64
import urllib.request
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from ..errors import InvalidAgent

PORTS = {"http": 80, "https": 443}


@dataclass(slots=True)
class Route:
    """How a host is reached: directly, or by a proxy that is asked for it (`http`) or for a tunnel to it (`https`)."""

    host: str
    port: int
    proxied: bool = False
    authorization: str | None = None  # for the proxy

    @property
    def headers(self) -> dict[str, str]:
        """What the proxy has to be told."""
        return {} if self.authorization is None else {"Proxy-Authorization": self.authorization}


def route(parts: SplitResult) -> Route:
    """The way to the host of a URL, by `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`."""
    proxies = urllib.request.getproxies_environment()
    host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    bypassed = urllib.request.proxy_bypass_environment(f"{host}:{port}", proxies)  # type: ignore[attr-defined]
    if not proxy or bypassed:
        return Route(host, port)
    try:
        by = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = by.port or 80
    except ValueError:
        by, port = urlsplit("//"), 80
    if by.scheme != "http" or not by.hostname:
        raise InvalidAgent(f"the proxy for {parts.scheme} is no http:// address; mend the variable that names it")
    authorization = None
    if by.username is not None:
        user = f"{unquote(by.username)}:{unquote(by.password or '')}"
        authorization = "Basic " + base64.b64encode(user.encode()).decode()
    return Route(by.hostname, port, True, authorization)
