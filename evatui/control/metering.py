"""The metrics of a runtime over HTTP, for a collector that comes by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from evatui.kernel.records.metrics import Metrics

__all__ = ["read_address", "serve_metrics"]

_LOOPBACK = "127.0.0.1"


def read_address(text: str) -> tuple[str, int]:
    """``PORT`` on the loopback, or ``HOST:PORT``. Raises `ValueError`."""
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65_535 or (colon and not host):
        raise ValueError(f"{text!r} is neither PORT nor HOST:PORT")
    return host.strip("[]") or _LOOPBACK, int(port)


def serve_metrics(metrics: Callable[[], Metrics], address: tuple[str, int]) -> tuple[str, Callable[[], None]]:
    """Answers at ``address`` from threads of its own; the URL, and what ends it. Raises `CommandFailed`.

    ``metrics`` is asked each time: a runtime that was restarted counts anew.
    """
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.registry import Collector

    class Newest(Collector):
        def collect(self) -> Iterable[Metric]:
            return metrics().registry().collect()

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Newest())
    host, port = address
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise CommandFailed(ErrorKind.UNAVAILABLE, f"metrics cannot be served at {host}:{port}: {reason}") from None

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return f"http://{host}:{server.server_port}/metrics", stop
