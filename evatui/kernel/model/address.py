"""Internet addresses: which of them lie outside, and which belong to this machine or its network.

Decided by a list of its own: what `ipaddress` calls global has changed between releases of Python.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

__all__ = ["Address", "Reach", "literal", "owns_its_name", "reach_of"]

Address = IPv4Address | IPv6Address


class Reach(StrEnum):
    """How far away an address is. ``CLOSED`` is never dialled: link-local with the metadata services of clouds,
    shared, multicast, unspecified, reserved, and tunnels that hide where they lead."""

    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    CLOSED = "closed"


_LOOPBACK_4 = IPv4Network("127.0.0.0/8")
_PRIVATE_4 = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_CLOSED_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "100.64.0.0/10",  # shared by the customers of a provider
            "169.254.0.0/16",  # link-local
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT
            "192.88.99.0/24",  # 6to4 relays
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/3",  # multicast, reserved, broadcast
        ),
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_CLOSED_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # Teredo, benchmarks, ORCHID and other assignments
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112
            "3fff::/20",  # documentation
        ),
    )
)
_LOOPBACK_6 = IPv6Address("::1")
_UNIQUE_LOCAL = IPv6Network("fc00::/7")
_NAT64 = IPv6Network("64:ff9b::/96")


def reach_of(address: Address) -> Reach:
    """An address that carries another one (IPv4-mapped, NAT64) is as far away as the one it carries."""
    if isinstance(address, IPv4Address):
        return _reach_4(address)
    if address.ipv4_mapped is not None:
        return _reach_4(address.ipv4_mapped)
    if address in _NAT64:
        carried = _reach_4(IPv4Address(int(address) & 0xFFFFFFFF))
        return Reach.PUBLIC if carried is Reach.PUBLIC else Reach.CLOSED  # a gateway's own network is not this one's
    if address.scope_id is not None:
        return Reach.CLOSED
    if address == _LOOPBACK_6:
        return Reach.LOOPBACK
    if address in _UNIQUE_LOCAL:
        return Reach.PRIVATE
    closed = address not in _UNICAST_6 or any(address in network for network in _CLOSED_6)
    return Reach.CLOSED if closed else Reach.PUBLIC


def literal(host: str) -> Address | None:
    """The address that ``host`` is, in the plain spelling (four decimal numbers, or IPv6 without brackets)."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def owns_its_name(host: str) -> bool:
    """Does ``host`` name this machine or its network: ``localhost``, or an address that is not public?

    No ``*`` stands for such a host; whoever wants it reached has to write it down.
    """
    address = literal(host)
    if address is not None:
        return reach_of(address) is not Reach.PUBLIC
    return host == "localhost" or host.endswith(".localhost")


def _reach_4(address: IPv4Address) -> Reach:
    if address in _LOOPBACK_4:
        return Reach.LOOPBACK
    if any(address in network for network in _PRIVATE_4):
        return Reach.PRIVATE
    return Reach.CLOSED if any(address in network for network in _CLOSED_4) else Reach.PUBLIC
